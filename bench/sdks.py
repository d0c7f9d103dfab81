"""Processor time per decision of a bot's own process, for each SDK compared with Python's.

    python -m bench.sdks [--case 1x16 …] [--language go …] [--language python-async …] [--compiled] [--json]

A complete server is pinned to one core and plays two-seat games of 6th Sense. The random sample of one SDK is pinned to
another core and plays one match, or 16 at once, against house bots. The server's metrics count the bot's decisions;
/proc gives the processor time of its process, all threads and garbage collection included. SDKs alternate, each with a
new server and a warm-up. The warm-up is ten times as long for languages compiled just in time (Node.js, Java). Ratios
are relative to Python's turn in the same repetition. `make bench-clients` builds the samples. An SDK without a built
sample is reported and skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple
from urllib.request import urlopen

import click
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console
from rich.table import Table

from bench._compiled import ROOT, option
from bench._pinned import CLIENT_CORE, pin
from bench._server import cpu, server, unpin_helpers

BUILD: Final = ROOT / "build"
JAVA: Final = BUILD / "client-java"
REFERENCE: Final = "python"
CASES: Final = {"1x1": 1, "1x16": 16}
"""Number of matches that the bot plays at once, by name of the case."""
PATIENCE: Final = 120.0
"""Maximum number of seconds between two decisions of a bot."""


class Sample(NamedTuple):
    """The random sample of an SDK."""

    command: tuple[str, ...]
    file: Path
    """File that the SDK's build creates."""
    warms_up: bool = False
    """True if the language is compiled just in time, so that it needs a long warm-up."""


def _program(file: Path) -> Sample:
    return Sample((str(file),), file)


WAYS: Final = ("play", "async", "trio", "connect")
"""The modes of the Python SDK besides `run`: `play` with a plain bot, with an async bot under asyncio or trio, and
`connect`.
"""
NODE: Final = ROOT / "clients" / "typescript" / "dist" / "samples" / "random_bot.js"


SAMPLES: Final = {
    "python": Sample(
        (sys.executable, "-m", "arena_client.samples.random_bot"),
        ROOT / "clients" / "python" / "arena_client" / "samples" / "random_bot.py",
    ),
    **{
        f"python-{way}": Sample((sys.executable, str(ROOT / "bench" / "_ways.py"), way), ROOT / "bench" / "_ways.py")
        for way in WAYS
    },
    "typescript": Sample(("node", str(NODE)), NODE, warms_up=True),
    "go": _program(BUILD / "client-go" / "random"),
    "cpp": _program(BUILD / "client-cpp" / "random_bot"),
    "rust": _program(BUILD / "client-rust" / "release" / "examples" / "random"),
    "java": Sample(
        ("java", "-cp", f"{JAVA / 'arena-client.jar'}:{JAVA / 'jars' / '*'}", "arena.samples.RandomBot"),
        JAVA / "arena-client.jar",
        warms_up=True,
    ),
}
"""Samples by language. For Rust it is a release build, because debug builds are for tests."""


class Turn(NamedTuple):
    """Result of one measurement of an SDK's bot."""

    cpu_us: float
    """Processor time of the bot's process per decision, in microseconds."""
    per_second: float
    """Decisions per second."""
    core: float
    """Share of a core that the bot used."""
    together: float
    """Mean number of decisions per message to the bot. The server sends one message per turn."""


class Count(NamedTuple):
    """The server's counters since its start."""

    decisions: int
    """Number of decisions by bots, including those of running matches."""
    turns: int


def measure(language: str, capacity: int, decisions: int, warm_up: int, compiled: bool) -> Turn:
    """Let an SDK's sample bot play, and measure it after its warm-up.

    Raises:
        ClickException: the bot does not play.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        server(Path(folder) / "data", "--metrics", "127.0.0.1:0", house=True, compiled=compiled) as (process, address),
    ):
        assert process.stdout is not None
        metrics = process.stdout.readline().removeprefix("Metrics at ").strip()
        with _playing(language, capacity, address, Path(folder)) as bot:
            warm = warm_up if SAMPLES[language].warms_up else warm_up // 10
            before = _reached(max(warm, 1), bot, language, metrics)
            unpin_helpers(process.pid)
            used, began = cpu(bot.pid), time.perf_counter()
            after = _reached(before.decisions + decisions, bot, language, metrics)
            used, took = cpu(bot.pid) - used, time.perf_counter() - began
    made, turns = after.decisions - before.decisions, after.turns - before.turns
    return Turn(1e6 * used / made, made / took, used / took, made / turns)


@contextmanager
def _playing(language: str, capacity: int, address: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    options = ("--server", address, "--name", language, "--capacity", str(capacity), "--game", "sixth_sense", "--quiet")
    with subprocess.Popen(
        [*SAMPLES[language].command, *options, "--token-file", str(folder / "token")],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    ) as bot:
        pin(bot.pid, CLIENT_CORE)
        try:
            yield bot
        finally:
            bot.kill()


def _reached(goal: int, bot: subprocess.Popen[str], language: str, metrics: str) -> Count:
    """Wait until the bots have made `goal` decisions. Return the latest counters."""
    made, until = 0, time.monotonic() + PATIENCE
    while (now := _counted(metrics)).decisions < goal:
        if now.decisions > made:
            made, until = now.decisions, time.monotonic() + PATIENCE
        if bot.poll() is not None:
            said = bot.stderr.read() if bot.stderr else ""
            raise click.ClickException(f"the {language} bot ended with status {bot.returncode}: {said.strip()[-500:]}")
        if time.monotonic() > until:
            raise click.ClickException(f"the {language} bot had {made} decisions, and no more for {PATIENCE:.0f} s")
        time.sleep(0.1)
    return now


def _counted(metrics: str) -> Count:
    with urlopen(metrics, timeout=PATIENCE) as answer:
        text = answer.read().decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    of_bots = (each for each in samples if each.name == "arena_decisions_total" and each.labels["player"] == "bot")
    turns = next(each for each in samples if each.name == "arena_turn_seconds_count")
    return Count(int(sum(each.value for each in of_bots)), int(turns.value))


def _plain(runs: Mapping[str, Sequence[Turn]]) -> dict[str, Any]:
    return {
        language: [
            {**turn._asdict(), "ratio": turn.cpu_us / own.cpu_us}
            for turn, own in zip(turns, runs[REFERENCE], strict=True)
        ]
        for language, turns in runs.items()
    }


def _spread(values: Sequence[float], form: str) -> str:
    return f"{median(values):{form}} ({min(values):{form}} – {max(values):{form}})"


def _table(cases: Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]], compiled: bool) -> Table:
    how = "compiled" if compiled else "nothing compiled"
    table = Table(title=f"A decision in a bot's own process; the server {how}: median (range) of the turns")
    for heading in (
        "matches",
        "SDK",
        "processor µs a decision",
        f"ratio to {REFERENCE}'s",
        "decisions/s",
        "at once",
        "of a core",
    ):
        table.add_column(heading, justify="left" if heading == "SDK" else "right")
    for case, languages in cases.items():
        for language, turns in languages.items():
            columns = (
                ("cpu_us", ",.1f"),
                ("ratio", ".2f"),
                ("per_second", ",.0f"),
                ("together", ".1f"),
                ("core", ".2f"),
            )
            spreads = (_spread([turn[name] for turn in turns], form) for name, form in columns)
            table.add_row(case, language, *spreads, end_section=language == [*languages][-1])
    return table


@click.command()
@click.option("--case", "cases", type=click.Choice([*CASES]), multiple=True, help="What to measure; repeatable.")
@click.option(
    "--language",
    "languages",
    type=click.Choice([*SAMPLES]),
    multiple=True,
    help="SDK to compare with Python's; repeatable.",
)
@click.option("--decisions", type=click.IntRange(1), default=40_000, show_default=True, help="Decisions per turn.")
@click.option(
    "--warm-up",
    type=click.IntRange(0),
    default=40_000,
    show_default=True,
    help="Decisions to warm up just-in-time compilers; others take a tenth.",
)
@click.option("--repetitions", type=click.IntRange(1), default=5, show_default=True)
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    cases: tuple[str, ...],
    languages: tuple[str, ...],
    decisions: int,
    warm_up: int,
    repetitions: int,
    compiled: bool,
    as_json: bool,
) -> None:
    """Measure the cost of a decision in a bot's process, for each SDK."""
    asked = dict.fromkeys((REFERENCE, *(languages or SAMPLES)))
    there = [language for language in asked if SAMPLES[language].file.exists()]
    for language in asked:
        if language not in there:
            missing = SAMPLES[language].file.relative_to(ROOT)
            click.echo(f"{language} is left out: there is no {missing}; make bench-clients builds it", err=True)
    runs: dict[str, dict[str, list[Turn]]] = {case: {each: [] for each in there} for case in cases or CASES}
    for number in range(repetitions):
        for case, turns in runs.items():
            for place in range(len(there)):  # rotate the order, so that each language is first in turn
                language = there[(place + number) % len(there)]
                turns[language].append(measure(language, CASES[case], decisions, warm_up, compiled))
    found = {case: _plain(turns) for case, turns in runs.items()}
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        Console(width=140).print(_table(found, compiled))


if __name__ == "__main__":
    main()
