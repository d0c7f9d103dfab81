"""What a decision costs through `Play`, beside a bare grpc.aio echo of messages of the same sizes.

    python -m bench.wire [--case one --case "1x16" …] [--compiled] [--json]

A real server process, everything on, is pinned to one core and plays two-seat games of 6th Sense with bots of the SDK
that answer at random and live in one process on another core; the server's helpers, the processes that it has for its
database, for house bots and for fits, may use both. The echo, pinned alike, has as many streams as there are bots, each
with one message in flight. Arena and echo take turns, so that what else the machine does falls on both. A
round trip is from an answer to the next decision of that match, in whichever of the seats.
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
from arena_client import Bot, Decision, Invitation, MatchReport, play
from rich.console import Console
from rich.table import Table

from bench._compiled import environment, option
from bench.echo import CLIENT_CORE, SERVER_CORE, Figures, pin, run_echo

ANSWER_BYTES: Final = 12
"""Of a message with one answer."""
DECISION_BYTES: Final = 20
"""Of a decision without its view and its legal actions."""
SAMPLED: Final = 16
"""Messages of which one is looked at for its bytes: what the bench does itself counts as the bots' time."""
WARM_UP: Final = 6.0
"""Seconds in which the first matches are played and the server starts its helpers, after all bots are connected."""


class Case(NamedTuple):
    """A load, and what is asked of the arena under it."""

    bots: int
    capacity: int
    """Matches that each bot plays at once."""
    streams: int
    """Of the echo."""
    bar: str
    meets: Callable[[Pair], float]
    """The ratio the bar is about."""

    @property
    def house(self) -> bool:
        """Whether the house has the other seat: a bot alone finds nobody else."""
        return self.bots == 1


class Pair(NamedTuple):
    """One turn: the arena and the echo, one after the other."""

    arena: Figures
    echo: Figures
    bytes: float
    """Of one decision, on average."""
    client_cpu_us: float
    """CPU time of the bots for one decision, in microseconds."""
    helpers_cpu_us: float
    """That of the server's helpers."""
    batch: float
    """Decisions in a message, on average."""

    @property
    def rate(self) -> float:
        """Decisions for each message of the echo."""
        return self.arena.messages_per_second / self.echo.messages_per_second

    @property
    def trip(self) -> float:
        """Median round trip, in round trips of the echo."""
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
"""One match alone; and bots × matches of each."""


def measure(case: Case, seconds: float, compiled: bool) -> Pair:
    """Both under the same load."""
    with (
        tempfile.TemporaryDirectory() as data,
        server(Path(data), house=case.house, compiled=compiled) as (process, address),
    ):
        command = [sys.executable, "-m", "bench.wire", "load", address, str(case.bots), str(case.capacity)]
        with subprocess.Popen([*command, str(seconds), str(process.pid)], text=True, stdout=subprocess.PIPE) as bots:
            pin(bots.pid, CLIENT_CORE)
            load = json.loads(bots.communicate()[0])
    means = [load.pop(name) for name in ("bytes", "client_cpu_us", "helpers_cpu_us", "batch")]
    echo = run_echo("bare", case.streams, ANSWER_BYTES, round(means[0]), seconds)
    return Pair(Figures(**load), echo, *means)


@contextmanager
def server(
    data: Path, *options: str, house: bool = False, compiled: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`arena serve` on a core of its own, and its address."""
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
class Tally:
    """What the bots of a process note together."""

    answered: dict[int, float] = field(default_factory=dict)
    """When a match was answered last."""
    trips: list[float] = field(default_factory=list)
    """Seconds, one for each decision but the first of a match."""
    sizes: list[int] = field(default_factory=list)
    """Bytes of a decision, of every so many messages."""
    messages: int = 0

    def restart(self) -> None:
        """Forgets everything but the matches."""
        self.trips.clear()
        self.sizes.clear()
        self.messages = 0


class Player(Bot):
    """Answers at random and notes when."""

    games = ("sixth_sense",)

    def __init__(self, name: str, capacity: int, tally: Tally) -> None:
        super().__init__(name=name, capacity=capacity)
        self.seated = False
        self._tally = tally
        self._chance = Random(name).random

    def on_match_start(self, invitation: Invitation) -> None:
        """It plays."""
        self.seated = True

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """One action for each."""
        now = time.perf_counter()
        tally, chance = self._tally, self._chance
        answered, trips = tally.answered, tally.trips
        answers = []
        for decision in decisions:
            if (before := answered.get(decision.match_id)) is not None:
                trips.append(now - before)
            legal = decision.legal
            answers.append(legal[int(chance() * len(legal))])
        if tally.messages % SAMPLED == 0:
            one = decisions[0]
            tally.sizes.append(DECISION_BYTES + len(one.legal) + one.view.ByteSize())
        tally.messages += 1
        now = time.perf_counter()
        for decision in decisions:
            answered[decision.match_id] = now
        return answers

    def on_match_end(self, report: MatchReport) -> None:
        """Forgets it."""
        self._tally.answered.pop(report.match_id, None)


async def _load(address: str, bots: int, capacity: int, seconds: float, server: int) -> None:
    tally = Tally()
    with tempfile.TemporaryDirectory() as tokens:
        players = [Player(f"bot-{number}", capacity, tally) for number in range(bots)]
        playing = [
            asyncio.create_task(play(player, address, token_file=Path(tokens) / player.name)) for player in players
        ]
        while not all(player.seated for player in players):
            await asyncio.sleep(0.1)
        await asyncio.sleep(WARM_UP)
        free_helpers(server)
        tally.restart()
        others = helpers(server)
        before, own, began = cpu(server), time.process_time(), time.perf_counter()
        before_helpers = sum(map(cpu, others))
        await asyncio.sleep(seconds)
        took, count, messages = time.perf_counter() - began, len(tally.trips), tally.messages
        used, own = cpu(server) - before, time.process_time() - own
        helped = sum(map(cpu, others)) - before_helpers
        percentiles = quantiles(tally.trips[:count], n=100)
        for task in playing:
            task.cancel()
        for task in playing:
            with suppress(asyncio.CancelledError):
                await task
    figures = Figures(count / took, 1e6 * percentiles[49], 1e6 * percentiles[98], 1e6 * used / count)
    means = {"bytes": mean(tally.sizes), "batch": count / messages}
    means |= {"client_cpu_us": 1e6 * own / count, "helpers_cpu_us": 1e6 * helped / count}
    print(json.dumps({**asdict(figures), **means}))


def helpers(process: int) -> list[int]:
    """The processes that a server has started; none where there is no /proc."""
    found = Path("/proc").glob(f"{process}/task/*/children")
    return [int(child) for children in found for child in children.read_text().split()]


def free_helpers(process: int) -> None:
    """Lets the processes that a server has started use the other core, too."""
    for helper in helpers(process):
        for thread in Path(f"/proc/{helper}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {SERVER_CORE, CLIENT_CORE})


def cpu(process: int) -> float:
    """Seconds of processor time that a process has used, all threads; not a number where there is no /proc."""
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
@click.option("--repetitions", type=int, default=5, show_default=True)
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def main(
    context: click.Context, cases: tuple[str, ...], seconds: float, repetitions: int, compiled: bool, as_json: bool
) -> None:
    """Measure decisions through the arena beside messages through a bare echo."""
    if context.invoked_subcommand is not None:
        return
    turns: dict[str, list[Pair]] = {name: [] for name in cases or CASES}
    for _ in range(repetitions):
        for name, pairs in turns.items():
            pairs.append(measure(CASES[name], seconds, compiled))
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
                _spread([case.meets(pair) for pair in pairs], ".2f") if arena else "",
                case.bar if arena else "",
                end_section=not arena,
            )
    return table


@main.command("load", hidden=True)
@click.argument("address")
@click.argument("bots", type=int)
@click.argument("capacity", type=int)
@click.argument("seconds", type=float)
@click.argument("server", type=int)
def _load_command(address: str, bots: int, capacity: int, seconds: float, server: int) -> None:
    asyncio.run(_load(address, bots, capacity, seconds, server))


if __name__ == "__main__":
    main()
