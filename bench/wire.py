"""What a decision costs through `Play`, beside a bare grpc.aio echo of messages of the same sizes.

    python -m bench.wire [--matches 1 --matches 16 …] [--json]

A real server process plays matches between two bots of the SDK that live in one other process and answer at random;
every match is a two-seat game of 6th Sense with no house bots. A round trip is from a bot's answer to the next decision
of the same match, in whichever of the two seats. The echo has as many streams as there are matches, each with a
connection of its own and one message in flight. Arena and echo take turns, so that what else the machine does falls on
both.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import NamedTuple

import click
from arena_client import Bot, Decision, MatchReport, play
from rich.console import Console
from rich.table import Table

from bench.echo import Figures, run_echo

ANSWER_BYTES = 12
"""Of a message with one answer."""
DECISION_BYTES = 20
"""Of a decision without its view and its legal actions."""
WARM_UP = 2.0


class Pair(NamedTuple):
    """One turn: the arena and the echo, one after the other."""

    arena: Figures
    echo: Figures
    bytes: float
    """Of one decision, on average."""


def measure(matches: int, seconds: float) -> Pair:
    """Both under the same number of matches and streams."""
    with tempfile.TemporaryDirectory() as data, _server(Path(data)) as (process, address):
        command = [sys.executable, "-m", "bench.wire", "load", address, str(matches), str(seconds), str(process.pid)]
        load = json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
    size = load.pop("bytes")
    echo = run_echo("bare", matches, ANSWER_BYTES, round(size), seconds)
    return Pair(Figures(**load), echo, size)


@contextmanager
def _server(data: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "arena.cli", "serve", "--quiet", "--no-house", "--seats", "2"]
    process = subprocess.Popen(
        [*command, "--data", str(data), "--address", "127.0.0.1:0", "--drain", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield process, line.removeprefix("Arena listens on ").partition(",")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


class Player(Bot):
    """Answers at random and notes when."""

    games = ("sixth_sense",)
    answered: dict[int, float]
    trips: list[float]
    sizes: list[int]

    def __init__(
        self, name: str, capacity: int, answered: dict[int, float], trips: list[float], sizes: list[int]
    ) -> None:
        super().__init__(name=name, capacity=capacity)
        self.answered, self.trips, self.sizes = answered, trips, sizes
        self._chance = Random(name).random

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """One action for each."""
        now = time.perf_counter()
        for decision in decisions:
            if (before := self.answered.get(decision.match_id)) is not None:
                self.trips.append(now - before)
        one = decisions[0]
        self.sizes.append(DECISION_BYTES + len(one.legal) + one.view.ByteSize())
        answers = [decision.legal[int(self._chance() * len(decision.legal))] for decision in decisions]
        self.answered.update(dict.fromkeys([decision.match_id for decision in decisions], time.perf_counter()))
        return answers

    def on_match_end(self, report: MatchReport) -> None:
        """Forgets it."""
        self.answered.pop(report.match_id, None)


async def _load(address: str, matches: int, seconds: float, server: int) -> None:
    answered: dict[int, float] = {}
    trips: list[float] = []
    sizes: list[int] = []
    with tempfile.TemporaryDirectory() as tokens:
        players = [Player(name, matches, answered, trips, sizes) for name in ("left", "right")]
        playing = [
            asyncio.create_task(play(player, address, token_file=Path(tokens) / player.name)) for player in players
        ]
        await asyncio.sleep(WARM_UP)
        trips.clear()
        before, began = _cpu(server), time.perf_counter()
        await asyncio.sleep(seconds)
        cpu, took, count = _cpu(server) - before, time.perf_counter() - began, len(trips)
        percentiles = quantiles(trips[:count], n=100)
        for task in playing:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    figures = Figures(count / took, 1e6 * percentiles[49], 1e6 * percentiles[98], 1e6 * cpu / count)
    print(json.dumps({**asdict(figures), "bytes": sum(sizes) / len(sizes)}))


def _cpu(process: int) -> float:
    """Seconds of processor time that a process has used, all threads; not a number where there is no /proc."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return math.nan
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):,.0f} ({min(values):,.0f} – {max(values):,.0f})"


@click.group(invoke_without_command=True)
@click.option("--matches", type=int, multiple=True, default=(1, 16, 200), show_default=True)
@click.option("--seconds", type=float, default=4.0, show_default=True, help="Length of one run.")
@click.option("--repetitions", type=int, default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def main(context: click.Context, matches: tuple[int, ...], seconds: float, repetitions: int, as_json: bool) -> None:
    """Measure decisions through the arena beside messages through a bare echo."""
    if context.invoked_subcommand is not None:
        return
    turns: dict[int, list[Pair]] = {number: [] for number in matches}
    for _ in range(repetitions):
        for number in matches:
            turns[number].append(measure(number, seconds))
    if as_json:
        click.echo(json.dumps({number: [_plain(pair) for pair in pairs] for number, pairs in turns.items()}, indent=2))
    else:
        Console().print(_table(turns))


def _plain(pair: Pair) -> dict[str, object]:
    return {"arena": asdict(pair.arena), "echo": asdict(pair.echo), "bytes": pair.bytes}


def _table(turns: dict[int, list[Pair]]) -> Table:
    table = Table(title="Decisions through Play, beside a bare grpc.aio echo: median (range) of the turns")
    for heading in ("matches", "", "decisions or messages/s", "median µs", "p99 µs", "server CPU µs", "rate ratio"):
        table.add_column(heading, justify="right")
    for number, pairs in turns.items():
        ratios = [pair.arena.messages_per_second / pair.echo.messages_per_second for pair in pairs]
        for name, runs in (("arena", [pair.arena for pair in pairs]), ("echo", [pair.echo for pair in pairs])):
            table.add_row(
                str(number),
                name,
                _spread([run.messages_per_second for run in runs]),
                _spread([run.median_us for run in runs]),
                _spread([run.p99_us for run in runs]),
                f"{median(run.server_cpu_us for run in runs):,.0f}",
                f"{median(ratios):.2f} ({min(ratios):.2f} – {max(ratios):.2f})" if name == "arena" else "",
                end_section=name == "echo",
            )
    return table


@main.command("load", hidden=True)
@click.argument("address")
@click.argument("matches", type=int)
@click.argument("seconds", type=float)
@click.argument("server", type=int)
def _load_command(address: str, matches: int, seconds: float, server: int) -> None:
    asyncio.run(_load(address, matches, seconds, server))


if __name__ == "__main__":
    main()
