"""Cost of a decision through `Play`, compared with a bare grpc.aio echo of messages of the same sizes.

    python -m bench.play [--case one --case "1x16" …] [--compiled] [--json]

A complete server process is pinned to one core and plays two-seat games of 6th Sense with bots of the SDK, which answer
at random in one process on another core. The server's helper processes (database, house bots, fits) may use both cores.
The echo, pinned alike, has as many streams as there are bots, each with one message in flight. Arena and echo
alternate, so that other load on the machine affects both. A round trip is the time from an answer to the next decision
of that match, at either seat.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from statistics import mean, median, quantiles
from typing import Final, NamedTuple

import click
from arena_client import Bot, Decision, MatchReport, MatchStart, play
from rich.console import Console
from rich.table import Table

from bench._compiled import environment, option
from bench.echo import CLIENT_CORE, SERVER_CORE, Figures, pin, run_echo

ANSWER_BYTES: Final = 12
"""Size of a message with one answer."""
DECISION_BYTES: Final = 20
"""Size of a decision without its view and its legal actions."""
SAMPLE_EVERY: Final = 16
"""The size of one message in this many is measured: measuring adds to the bots' time."""


class Case(NamedTuple):
    """A load and the figure required of the arena under it."""

    bots: int
    capacity: int
    """Matches that each bot plays at once."""
    streams: int
    """Number of streams of the echo."""
    bar: str
    ratio: Callable[[Pair], float]
    """Ratio that the bar refers to."""

    @property
    def house(self) -> bool:
        """Whether a house bot takes the other seat: a single bot has no other opponent."""
        return self.bots == 1


class Pair(NamedTuple):
    """Figures of one turn: the arena and then the echo."""

    arena: Figures
    echo: Figures
    bytes: float
    """Mean size of a decision in bytes."""
    client_cpu_us: float
    """CPU time of the bots for one decision, in microseconds."""
    helpers_cpu_us: float
    """CPU time of the server's helper processes for one decision, in microseconds."""
    batch: float
    """Mean number of decisions in a message."""

    @property
    def rate(self) -> float:
        """Decisions per second divided by messages per second of the echo."""
        return self.arena.messages_per_second / self.echo.messages_per_second

    @property
    def trip(self) -> float:
        """Median round trip divided by that of the echo."""
        return self.arena.median_us / self.echo.median_us


def _rate(pair: Pair) -> float:
    return pair.rate


def _trip(pair: Pair) -> float:
    return pair.trip


CASES: Final = {
    "one": Case(2, 1, 1, "round trip ≤ 2.0", _trip),
    "1x16": Case(1, 16, 1, "rate ≥ 1.5", _rate),
    "8x16": Case(8, 16, 8, "rate ≥ 2.0", _rate),
    "200x1": Case(200, 1, 200, "rate ≥ 0.7", _rate),
}
"""Loads by name: a single match, and bots × matches of each."""


def measure(case: Case, seconds: float, warm_up: float, compiled: bool) -> Pair:
    """Measure arena and echo under the same load."""
    with (
        tempfile.TemporaryDirectory() as data,
        server(Path(data), house=case.house, compiled=compiled) as (process, address),
    ):
        command = [sys.executable, "-m", "bench.play", "load", address, str(case.bots), str(case.capacity)]
        with subprocess.Popen(
            [*command, str(seconds), str(warm_up), str(process.pid)], text=True, stdout=subprocess.PIPE
        ) as bots:
            pin(bots.pid, CLIENT_CORE)
            load = json.loads(bots.communicate()[0])
    means = [load.pop(name) for name in ("bytes", "client_cpu_us", "helpers_cpu_us", "batch")]
    echo = run_echo("bare", case.streams, ANSWER_BYTES, round(means[0]), seconds)
    return Pair(Figures(**load), echo, *means)


@contextmanager
def server(
    data: Path, *options: str, house: bool = False, compiled: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `arena serve` on its own core; yields the process and its address."""
    command = [sys.executable, "-m", "arena.cli", "serve", "--quiet", "--seats", "2", "--game", "sixth_sense"]
    command += ["--patience", "0", "--house" if house else "--no-house", *options]
    process = subprocess.Popen(
        [*command, "--data", str(data), "--address", "127.0.0.1:0", "--drain", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(compiled),
    )
    pin(process.pid, SERVER_CORE)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield process, line.removeprefix("Arena listens on ").partition(",")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


@dataclass(slots=True)
class Measurements:
    """Measurements shared by all bots of a process."""

    answered: dict[int, float] = field(default_factory=dict)
    """Time of the last answer, by match."""
    trips: list[float] = field(default_factory=list)
    """Round trips in seconds, one for each decision but the first of a match."""
    sizes: list[int] = field(default_factory=list)
    """Sizes of decisions in bytes, one for every `SAMPLE_EVERY` messages."""
    messages: int = 0

    def restart(self) -> None:
        """Discard all figures, but not the times of the last answers."""
        self.trips.clear()
        self.sizes.clear()
        self.messages = 0


class Player(Bot):
    """Bot that answers at random and measures round trips."""

    games = ("sixth_sense",)

    def __init__(self, name: str, capacity: int, measurements: Measurements) -> None:
        super().__init__(name=name, capacity=capacity)
        self.seated = False
        self._measurements = measurements
        self._chance = Random(name).random

    def on_match_start(self, start: MatchStart) -> None:
        """Note that the bot has a seat."""
        self.seated = True

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """Choose a random action for each decision."""
        now = time.perf_counter()
        measurements, chance = self._measurements, self._chance
        answered, trips = measurements.answered, measurements.trips
        answers = []
        for decision in decisions:
            if (before := answered.get(decision.match_id)) is not None:
                trips.append(now - before)
            legal = decision.legal
            answers.append(legal[int(chance() * len(legal))])
        if measurements.messages % SAMPLE_EVERY == 0:
            one = decisions[0]
            measurements.sizes.append(DECISION_BYTES + len(one.legal) + one.view.ByteSize())
        measurements.messages += 1
        now = time.perf_counter()
        for decision in decisions:
            answered[decision.match_id] = now
        return answers

    def on_match_end(self, report: MatchReport) -> None:
        """Forget the match."""
        self._measurements.answered.pop(report.match_id, None)


async def _load(
    address: str, bots: int, capacity: int, seconds: float, warm_up: float, server: int, prefix: str
) -> None:
    measurements = Measurements()
    with tempfile.TemporaryDirectory() as tokens:
        players = [Player(f"{prefix}-{number}", capacity, measurements) for number in range(bots)]
        playing = [
            asyncio.create_task(play(player, address, token_file=Path(tokens) / player.name)) for player in players
        ]
        while not all(player.seated for player in players):
            await asyncio.sleep(0.1)
        await asyncio.sleep(warm_up)
        unpin_helpers(server)
        measurements.restart()
        others = helpers(server)
        before, own, began = cpu(server), time.process_time(), time.perf_counter()
        before_helpers = sum(map(cpu, others))
        await asyncio.sleep(seconds)
        took, count, messages = time.perf_counter() - began, len(measurements.trips), measurements.messages
        used, own = cpu(server) - before, time.process_time() - own
        helped = sum(map(cpu, others)) - before_helpers
        percentiles = quantiles(measurements.trips[:count], n=100)
        for task in playing:
            task.cancel()
        for task in playing:
            with suppress(asyncio.CancelledError):
                await task
    figures = Figures(count / took, 1e6 * percentiles[49], 1e6 * percentiles[98], 1e6 * used / count)
    means = {"bytes": mean(measurements.sizes), "batch": count / messages}
    means |= {"client_cpu_us": 1e6 * own / count, "helpers_cpu_us": 1e6 * helped / count}
    print(json.dumps({**asdict(figures), **means}))


def helpers(process: int) -> list[int]:
    """Find the child processes of a server by /proc; empty if there is no /proc."""
    found = Path("/proc").glob(f"{process}/task/*/children")
    return [int(child) for children in found for child in children.read_text().split()]


def unpin_helpers(process: int) -> None:
    """Let the child processes of a server use both cores."""
    for helper in helpers(process):
        for thread in Path(f"/proc/{helper}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {SERVER_CORE, CLIENT_CORE})


def cpu(process: int) -> float:
    """Return the processor time in seconds of all threads of a process; NaN if there is no /proc."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return math.nan
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _spread(values: Sequence[float], form: str = ",.0f") -> str:
    return f"{median(values):{form}} ({min(values):{form}} – {max(values):{form}})"


@click.group(invoke_without_command=True)
@click.option("--case", "cases", type=click.Choice([*CASES]), multiple=True, help="What to measure; repeatable.")
@click.option("--seconds", type=float, default=3.0, show_default=True, help="Length of one run.")
@click.option(
    "--warm-up", type=float, default=6.0, show_default=True, help="Seconds for first matches and for helpers to start."
)
@click.option("--repetitions", type=int, default=5, show_default=True)
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def main(
    context: click.Context,
    cases: tuple[str, ...],
    seconds: float,
    warm_up: float,
    repetitions: int,
    compiled: bool,
    as_json: bool,
) -> None:
    """Measure decisions through the arena beside messages through a bare echo."""
    if context.invoked_subcommand is not None:
        return
    turns: dict[str, list[Pair]] = {name: [] for name in cases or CASES}
    for _ in range(repetitions):
        for name, pairs in turns.items():
            pairs.append(measure(CASES[name], seconds, warm_up, compiled))
    if as_json:
        click.echo(json.dumps({name: [_plain(pair) for pair in pairs] for name, pairs in turns.items()}, indent=2))
    else:
        Console(width=180).print(_table(turns, compiled))


def _plain(pair: Pair) -> dict[str, object]:
    own = {"arena": asdict(pair.arena), "echo": asdict(pair.echo)}
    return {
        **own,
        "bytes": pair.bytes,
        "client_cpu_us": pair.client_cpu_us,
        "helpers_cpu_us": pair.helpers_cpu_us,
        "batch": pair.batch,
        "rate": pair.rate,
        "trip": pair.trip,
    }


def _table(turns: dict[str, list[Pair]], compiled: bool) -> Table:
    how = "compiled" if compiled else "nothing compiled"
    table = Table(title=f"Decisions through Play ({how}), beside a bare grpc.aio echo: median (range) of the turns")
    for heading in (
        "bots × matches",
        "",
        "per second",
        "median µs",
        "p99 µs",
        "server CPU µs",
        "helpers' CPU µs",
        "bots' CPU µs",
        "a message",
        "ratio",
    ):
        table.add_column(heading, justify="right")
    table.add_column("bar")
    for name, pairs in turns.items():
        case = CASES[name]
        for kind, runs in (("arena", [pair.arena for pair in pairs]), ("echo", [pair.echo for pair in pairs])):
            arena = kind == "arena"
            table.add_row(
                name,
                kind,
                _spread([run.messages_per_second for run in runs]),
                _spread([run.median_us for run in runs]),
                _spread([run.p99_us for run in runs]),
                f"{median(run.server_cpu_us for run in runs):,.0f}",
                f"{median(pair.helpers_cpu_us for pair in pairs):,.0f}" if arena else "",
                f"{median(pair.client_cpu_us for pair in pairs):,.0f}" if arena else "",
                f"{median(pair.batch for pair in pairs):,.1f}" if arena else "1",
                _spread([case.ratio(pair) for pair in pairs], ".2f") if arena else "",
                case.bar if arena else "",
                end_section=not arena,
            )
    return table


@main.command("load", hidden=True)
@click.argument("address")
@click.argument("bots", type=int)
@click.argument("capacity", type=int)
@click.argument("seconds", type=float)
@click.argument("warm_up", type=float)
@click.argument("server", type=int)
@click.option("--prefix", default="bot", help="What the bots' names begin with.")
def _load_command(
    address: str, bots: int, capacity: int, seconds: float, warm_up: float, server: int, prefix: str
) -> None:
    asyncio.run(_load(address, bots, capacity, seconds, warm_up, server, prefix))


if __name__ == "__main__":
    main()
