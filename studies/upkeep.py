"""Upkeep of a server: memory growth over finished matches, and processor time for bots that wait.

    python -m studies.upkeep [--matches 10000] [--bots 2000] [--json]

Memory: bots of the SDK play two-seat games of 6th Sense until so many matches are finished, which takes minutes; growth
is the slope of the server's resident memory over the second half. Waiting: so many bots of one owner, who never meet,
are connected without playing; heartbeats and pings go on. Server and bots have one core each.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import linear_regression
from typing import Final

import click
from arena_client import Bot, Decision, MatchReport, play
from rich.console import Console
from rich.table import Table

from bench._pinned import CLIENT_CORE, pin
from bench._server import cpu, resident, server

PLAYERS: Final = 8
SETTLING: Final = 2.0
"""Seconds from the last bot's welcome to the beginning of the measurement."""
TOGETHER: Final = 100
"""Idle bots that connect at the same time."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Figures of both measurements."""

    matches: int
    seconds: float
    """Duration of these matches."""
    resident_mib: float
    """Memory of the server at their end, in MiB."""
    growth_bytes: float | None
    """Growth of memory for each finished match, in bytes; None if there were too few."""
    idle_bots: int
    idle_cpu_percent: float
    """Processor time of the server with idle bots, in percent of one core."""
    idle_mib: float
    """Memory of the server with idle bots, in MiB."""


class Player(Bot):
    """Bot that answers at random and counts its matches."""

    games = ("sixth_sense",)
    capacity = 16
    finished = 0

    def decide(self, decision: Decision) -> int:
        """Choose a random action."""
        return decision.legal[int(self._chance() * len(decision.legal))]

    def __init__(self, name: str, owner: str | None = None) -> None:
        super().__init__(name=name, owner=owner)
        self._chance = Random(name).random

    def on_match_end(self, report: MatchReport) -> None:
        """Count the match if the bot had seat 0, so that only one of both counts it."""
        self.finished += report.seat == 0


@contextmanager
def _clients(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "studies.upkeep", *map(str, arguments)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
        pin(process.pid, CLIENT_CORE)
        try:
            yield process
        finally:
            process.kill()


def measure(matches: int, bots: int, seconds: float) -> Upkeep:
    """Measure memory growth and then idle bots, for `seconds`."""
    points: list[tuple[int, int]] = []
    began = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as data,
        server(Path(data)) as (process, address),
        _clients("play", address) as playing,
    ):
        assert playing.stdout is not None
        for line in playing.stdout:
            points.append((int(line), resident(process.pid)))
            if points[-1][0] >= matches:
                break
        took = time.perf_counter() - began
    late = [point for point in points if point[0] >= matches / 2]
    with (
        tempfile.TemporaryDirectory() as data,
        server(Path(data), "--bots-per-owner", str(bots), "--streams-per-owner", str(bots)) as (process, address),
        _clients("wait", address, bots) as waiting,
    ):
        assert waiting.stdout is not None
        waiting.stdout.readline()  # all are connected
        time.sleep(SETTLING)
        before = cpu(process.pid)
        time.sleep(seconds)
        idle, memory = (cpu(process.pid) - before) / seconds, resident(process.pid)
    return Upkeep(points[-1][0], took, points[-1][1] / 2**20, _slope(late), bots, 100 * idle, memory / 2**20)


def _slope(points: Sequence[tuple[int, int]]) -> float | None:
    """Fit the growth in bytes a match; None unless there are two different counts of matches."""
    if len({matches for matches, _ in points}) < 2:
        return None
    return linear_regression(*zip(*points, strict=True)).slope


async def _play(address: str) -> None:
    with tempfile.TemporaryDirectory() as tokens:
        players = [Player(f"bot-{number}") for number in range(PLAYERS)]
        tasks = [asyncio.create_task(play(each, address, token_file=Path(tokens) / each.name)) for each in players]
        while not any(task.done() for task in tasks):
            await asyncio.sleep(0.5)
            print(sum(player.finished for player in players), flush=True)


class _Welcomes(logging.Handler):
    """Log handler that counts connected bots."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a record of a bot that has connected."""
        self.count += "is connected" in record.msg


async def _wait(address: str, bots: int) -> None:
    welcomes = _Welcomes()
    log = logging.getLogger("arena_client")
    log.addHandler(welcomes)
    log.setLevel(logging.INFO)
    with tempfile.TemporaryDirectory() as tokens:
        tasks = []
        for number in range(bots):
            bot = Player(f"idle-{number}", owner="one")
            tasks.append(asyncio.create_task(play(bot, address, token_file=Path(tokens) / bot.name)))
            while number + 1 - welcomes.count > TOGETHER:
                await asyncio.sleep(0.05)
        while welcomes.count < bots:
            await asyncio.sleep(0.2)
        print("connected", flush=True)
        await asyncio.gather(*tasks)


@click.group(invoke_without_command=True)
@click.option("--matches", type=int, default=10_000, show_default=True)
@click.option("--bots", type=int, default=2_000, show_default=True)
@click.option("--seconds", type=float, default=20.0, show_default=True, help="For which the waiting is watched.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def main(context: click.Context, matches: int, bots: int, seconds: float, as_json: bool) -> None:
    """Measure what a server keeps of matches that are over, and what bots that wait cost it."""
    if context.invoked_subcommand is not None:
        return
    if not Path("/proc/self/status").exists():
        click.echo("{}" if as_json else "studies.upkeep needs /proc, which this system has not.")
        return
    upkeep = measure(matches, bots, seconds)
    if as_json:
        click.echo(json.dumps(asdict(upkeep), indent=2))
        return
    table = Table(title="Upkeep of a server", show_header=False)
    table.add_row("matches finished", f"{upkeep.matches:,} in {upkeep.seconds:.0f} s")
    table.add_row("memory in the end", f"{upkeep.resident_mib:.0f} MiB")
    growth = "too few matches to say" if upkeep.growth_bytes is None else f"{upkeep.growth_bytes:,.0f} bytes"
    table.add_row("growth for each match", growth)
    table.add_row("bots that wait", f"{upkeep.idle_bots:,}")
    table.add_row("their processor time", f"{upkeep.idle_cpu_percent:.1f} % of a core")
    table.add_row("memory with them", f"{upkeep.idle_mib:.0f} MiB")
    Console().print(table)


@main.command("play", hidden=True)
@click.argument("address")
def _play_command(address: str) -> None:
    asyncio.run(_play(address))


@main.command("wait", hidden=True)
@click.argument("address")
@click.argument("bots", type=int)
def _wait_command(address: str, bots: int) -> None:
    with suppress(KeyboardInterrupt):
        asyncio.run(_wait(address, bots))


if __name__ == "__main__":
    main()
