"""Cost of a stored match when several processes write to one data directory, or to one PostgreSQL database.

    python -m bench.writers [--store postgresql] [--writers 1 …] [--matches 400] [--repetitions 7] [--compiled]
        [--json]

Each writer is a process with a `Committer`, like the writer process of a node. It begins and ends matches between two
bots of its own, with replays, ratings, leaves and signed heads. Each transaction contains `--at-once` matches, since on
a server with many running matches several begin or end at once. One writer corresponds to a server with a single node.
Runs with different stores and numbers of writers alternate, so that other load affects all of them. The table shows
medians and ranges of the processor time per match, and its ratio to the time with one writer on SQLite in the same
repetition. The time includes that of all processes of the database server, which runs for this benchmark only.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
import trio
from rich.console import Console
from rich.table import Table

from arena.replay.hash_chain import PackedReplay
from arena.store import nodes
from arena.store.base import leaves as log
from arena.store.base.directory import database_of, use_server
from arena.store.bots import bots
from arena.store.log.key import open_log
from arena.store.matches import matches
from arena.store.store import open_store
from arena.store.writer.group_commit import Committer
from bench._compiled import environment, option
from tests.postgresql import Server, programs, server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

GAME: Final = "nullern"
REPLAY: Final = 2500
"""Number of bytes of a packed replay."""
STORES: Final = ("sqlite", "postgresql")
BARS: Final = {2: 1.3, 4: 1.5}
"""Maximum processor time per match on SQLite, as a multiple of the time with one writer, by number of writers."""
DEAREST: Final = 1.0
"""Maximum number of milliseconds of processor time per match with one writer on PostgreSQL."""
LEAST_RATE: Final = {4: 600}
"""Minimum number of matches per second on PostgreSQL, by number of writers."""
SERVER: Final = ("fsync=on", "full_page_writes=on", "shared_buffers=128MB")
"""Default settings of a PostgreSQL server, which the tests change."""
BLOCK: Final = 1000
"""Number of match numbers that a writer reserves at once."""


class Measured(NamedTuple):
    """One repetition with one number of writers."""

    processor: float
    """Milliseconds of processor time for a match, over all writers and the database server."""
    of_server: float
    """The database server's part of `processor`."""
    rate: float
    """Matches per second, over all writers."""
    slowest: float
    """Milliseconds per transaction in the slowest pair: one that begins matches and one that ends them."""
    errors: int


def _now() -> int:
    return time.time_ns() // 1000


def _server_time(running: Server | None) -> float:
    """Return the processor time in seconds of the server's present processes, except the one that answers."""
    if running is None:
        return 0.0
    found = running.run("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for (pid,) in found) / 1e9


async def _make(directory: Path, writers: int) -> None:
    async with open_store(directory, _now()) as store:
        await store.write(partial(_prepare, writers=writers))


def _prepare(connection: Connection, writers: int) -> None:
    for writer in range(1, writers + 1):
        for name in "ab":
            bots.register(connection, f"bot-{writer}{name}", "", _now())
        if writers > 1:
            nodes.register(connection, nodes.NodeStart(writer, f"localhost:{writer}", "bench"))


def _begin(connection: Connection, players: Sequence[bots.BotId], number: int, node: int | None) -> matches.MatchId:
    return matches.begin(connection, GAME, {}, players, _now(), number, node=node)


def _finish(connection: Connection, match_id: matches.MatchId) -> None:
    replay = PackedReplay(os.urandom(REPLAY), bytes(32))
    sequences: dict[str, Any] = {"scores": [3, 1], "places": [1, 2], "forced": [0, 0], "counts": [True, True]}
    matches.finish(connection, match_id, **sequences, at=_now(), replay=lambda _: replay)


def _write(directory: Path, writer: int, shared: bool, count: int, at_once: int, steps: Barrier, line: Any) -> None:
    database = database_of(directory)
    with database.writing().connect() as connection:
        with connection.begin():
            signer = open_log(connection, directory, _now())
            found = [bots.holder(connection, f"bot-{writer}{name}") for name in "ab"]
        players = [bot.id for bot in found if bot is not None]
        committer = Committer(connection, database, partial(log.seal_added, sign=signer), shared)
        numbers = iter(()) if shared else iter(range(1, count + 1))
        slowest, errors = 0.0, 0
        for _ in range(2):  # The parent reads the server's time between these.
            steps.wait()
        processor, begun = time.process_time(), time.monotonic()
        for _ in range(0, count, at_once):
            own: list[int] = []
            while len(own) < at_once:
                if (number := next(numbers, None)) is None:
                    (block,) = committer.commit([partial(nodes.reserve_numbers, number=writer, count=BLOCK)])
                    if block.error is not None:
                        raise block.error
                    numbers = iter(block.value)
                else:
                    own.append(number)
            jobs = [partial(_begin, players=players, number=each, node=writer if shared else None) for each in own]
            before = time.monotonic()
            outcomes = committer.commit(jobs)
            ended = committer.commit([partial(_finish, match_id=each.value) for each in outcomes])
            slowest = max(slowest, (time.monotonic() - before) / 2)
            errors += sum(each.error is not None for each in (*outcomes, *ended))
        line.send((time.process_time() - processor, time.monotonic() - begun, slowest, errors))
        steps.wait()
        committer.close()


def measure(running: Server | None, writers: int, count: int, at_once: int) -> Measured:
    """Let several writers each store `count` matches in a new directory, or in a new database of a server."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "data"
        if running is not None:
            use_server(directory, running.address(running.new_database()))
        trio.run(_make, directory, writers)
        fork = multiprocessing.get_context("fork")
        steps, lines, children = fork.Barrier(writers + 1), [], []
        for writer in range(1, writers + 1):
            ours, theirs = fork.Pipe(duplex=False)
            arguments = (directory, writer, writers > 1, count, at_once, steps, theirs)
            children.append(fork.Process(target=_write, args=arguments))
            children[-1].start()
            theirs.close()
            lines.append(ours)
        steps.wait()
        before = _server_time(running)
        steps.wait()
        found = [line.recv() for line in lines]
        of_server = _server_time(running) - before
        steps.wait()
        for child in children:
            child.join()
    processor, wall, slowest, errors = zip(*found, strict=True)
    whole = writers * count
    at_server = of_server / whole * 1e3
    return Measured(
        sum(processor) / whole * 1e3 + at_server, at_server, whole / max(wall), max(slowest) * 1e3, sum(errors)
    )


def _missed(runs: dict[str, dict[int, list[Measured]]], ratios: dict[str, dict[int, list[float]]]) -> list[str]:
    """Return the bars that are missed."""
    missed = [
        f"sqlite, {number} writers: ≤ {bar}"
        for number, bar in BARS.items()
        if number in ratios["sqlite"] and median(ratios["sqlite"][number]) > bar
    ]
    if there := runs.get("postgresql"):
        if median(each.processor for each in there[1]) > DEAREST:
            missed.append(f"postgresql: ≤ {DEAREST} ms")
        for number, rate in LEAST_RATE.items():
            if number in there and median(each.rate for each in there[number]) < rate:
                missed.append(f"postgresql, {number} writers: ≥ {rate} matches/s")
    return missed


@click.command(help="Measure the cost of a stored match with several writers on one data directory.")
@click.option("--store", type=click.Choice(STORES), default="sqlite", show_default=True, help="With postgresql, both.")
@click.option("--writers", "numbers", type=click.IntRange(1, 99), multiple=True, default=(1, 2, 4), show_default=True)
@click.option("--matches", "count", default=400, show_default=True, help="Number of matches of each writer.")
@click.option("--at-once", default=4, show_default=True, help="Number of jobs in each transaction.")
@click.option("--repetitions", default=7, show_default=True, help="Number of repetitions of each number of writers.")
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    store: str, numbers: tuple[int, ...], count: int, at_once: int, repetitions: int, compiled: bool, as_json: bool
) -> None:
    """Measure and print; exit with 1 if a bar is missed or a job failed."""
    if compiled:
        command = [sys.executable, "-m", "bench.writers", *(word for word in sys.argv[1:] if word != "--compiled")]
        sys.exit(subprocess.run(command, check=False, env=environment()).returncode)
    numbers = tuple(sorted({1, *numbers}))
    servers: dict[str, Server | None] = {"sqlite": None}
    runs: dict[str, dict[int, list[Measured]]] = {}
    with ExitStack() as stack:
        if store == "postgresql":
            if programs() is None:
                raise click.ClickException("PostgreSQL IS MISSING: tools/debian-packages.sh installs it")
            servers[store] = stack.enter_context(server(*SERVER))
        for _ in range(repetitions):
            for name, running in servers.items():
                for number in numbers:
                    measured = measure(running, number, count, at_once)
                    runs.setdefault(name, {}).setdefault(number, []).append(measured)
    ones = [each.processor for each in runs["sqlite"][1]]
    ratios = {
        name: {
            number: [each.processor / one for each, one in zip(of_number, ones, strict=True)]
            for number, of_number in by_number.items()
        }
        for name, by_number in runs.items()
    }
    missed = _missed(runs, ratios)
    failed = any(each.errors for by_number in runs.values() for of_number in by_number.values() for each in of_number)
    if as_json:
        shown = {
            name: {number: [each._asdict() for each in of_number] for number, of_number in by_number.items()}
            for name, by_number in runs.items()
        }
        print(json.dumps({"runs": shown, "ratios": ratios, "missed": missed}))
    else:
        Console().print(_table(runs, ratios))
        for bar in missed:
            print(f"missed: {bar}")
    raise SystemExit(1 if missed or failed else 0)


def _table(runs: dict[str, dict[int, list[Measured]]], ratios: dict[str, dict[int, list[float]]]) -> Table:
    table = Table("store", "writers", "ms a match", "server's ms", "× SQLite", "matches/s", "slowest ms", "errors")
    for name, by_number in runs.items():
        for number, runs_of in by_number.items():
            own = [each.processor for each in runs_of]
            rates = [each.rate for each in runs_of]
            table.add_row(
                name,
                str(number),
                f"{median(own):.2f}\n{min(own):.2f}–{max(own):.2f}",
                f"{median(each.of_server for each in runs_of):.2f}",
                f"{median(ratios[name][number]):.2f}",
                f"{median(rates):,.0f}\n{min(rates):,.0f}–{max(rates):,.0f}",
                f"{max(each.slowest for each in runs_of):.0f}",
                str(sum(each.errors for each in runs_of)),
            )
    return table


if __name__ == "__main__":
    main()
