"""Cost of a stored match when several processes write to one data directory.

    python -m bench.writers [--writers 1 --writers 2 …] [--matches 400] [--repetitions 7] [--json]

Each writer is a process with a `Committer`, like the writer process of a node. It begins and ends matches of its own
two bots, with replays, ratings, leaves and signed heads; each transaction contains `--at-once` matches. One writer
corresponds to a server with a single node. Runs with different numbers of writers alternate, so that other load affects
all of them. The table shows medians and ranges of the processor time per match, and its ratio to the time with one
writer in the same repetition. The bars apply to this ratio.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
import time
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
from arena.store.base.directory import database_of
from arena.store.bots import bots
from arena.store.log.key import open_log
from arena.store.matches import matches
from arena.store.store import open_store
from arena.store.writer.group_commit import Committer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

GAME: Final = "nullern"
REPLAY: Final = 2500
"""Number of bytes of a packed replay."""
BARS: Final = {2: 1.3, 4: 1.5}
"""Maximum processor time per match, as a multiple of the time with one writer, by number of writers."""
BLOCK: Final = 1000
"""Number of match numbers that a writer reserves at once."""


class Measured(NamedTuple):
    """One repetition with one number of writers."""

    processor: float
    """Milliseconds of processor time for a match, over all writers."""
    rate: float
    """Matches in a second, over all writers."""
    slowest: float
    """Milliseconds of the slowest transaction."""
    errors: int


def _now() -> int:
    return time.time_ns() // 1000


async def _make(directory: Path, writers: int) -> None:
    async with open_store(directory, _now()) as store:
        await store.write(partial(_prepare, writers=writers))


def _prepare(connection: Connection, writers: int) -> None:
    for writer in range(1, writers + 1):
        for name in "ab":
            bots.register(connection, f"bot-{writer}{name}", "", _now())
        if writers > 1:
            nodes.register(connection, writer, f"localhost:{writer}", "bench")


def _begin(connection: Connection, players: Sequence[bots.BotId], number: int, node: int | None) -> matches.MatchId:
    return matches.begin(connection, GAME, {}, players, _now(), number, node=node)


def _finish(connection: Connection, match_id: matches.MatchId) -> None:
    replay = PackedReplay(os.urandom(REPLAY), bytes(32))
    sequences: dict[str, Any] = {"scores": [3, 1], "places": [1, 2], "forced": [0, 0], "counts": [True, True]}
    matches.finish(connection, match_id, **sequences, at=_now(), replay=lambda _: replay)


def _write(directory: Path, writer: int, shared: bool, count: int, at_once: int, start: Barrier, line: Any) -> None:
    database = database_of(directory)
    with database.writing().connect() as connection:
        with connection.begin():
            signer = open_log(connection, directory, _now())
            found = [bots.holder(connection, f"bot-{writer}{name}") for name in "ab"]
        players = [bot.id for bot in found if bot is not None]
        committer = Committer(connection, database, partial(log.seal, sign=signer), shared)
        numbers = iter(()) if shared else iter(range(1, count + 1))
        slowest, errors = 0.0, 0
        start.wait()
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
        committer.close()


def measure(writers: int, count: int, at_once: int) -> Measured:
    """Let several writers each store `count` matches in a new directory."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "data"
        trio.run(_make, directory, writers)
        fork = multiprocessing.get_context("fork")
        start, lines, children = fork.Barrier(writers), [], []
        for writer in range(1, writers + 1):
            ours, theirs = fork.Pipe(duplex=False)
            arguments = (directory, writer, writers > 1, count, at_once, start, theirs)
            children.append(fork.Process(target=_write, args=arguments))
            children[-1].start()
            theirs.close()
            lines.append(ours)
        found = [line.recv() for line in lines]
        for child in children:
            child.join()
    processor, wall, slowest, errors = zip(*found, strict=True)
    whole = writers * count
    return Measured(sum(processor) / whole * 1e3, whole / max(wall), max(slowest) * 1e3, sum(errors))


@click.command(help="Measure the cost of a stored match with several writers on one data directory.")
@click.option("--writers", "numbers", type=click.IntRange(1, 99), multiple=True, default=(1, 2, 4), show_default=True)
@click.option("--matches", "count", default=400, show_default=True, help="Number of matches of each writer.")
@click.option("--at-once", default=4, show_default=True, help="Number of jobs in each transaction.")
@click.option("--repetitions", default=7, show_default=True, help="Number of repetitions of each number of writers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(numbers: tuple[int, ...], count: int, at_once: int, repetitions: int, as_json: bool) -> None:
    """Measure and print; exit with 1 if a bar is missed or a job failed."""
    numbers = tuple(sorted({1, *numbers}))
    found: dict[int, list[Measured]] = {number: [] for number in numbers}
    for _ in range(repetitions):
        for number in numbers:
            found[number].append(measure(number, count, at_once))
    ratios = {
        number: [each.processor / one.processor for each, one in zip(runs, found[1], strict=True)]
        for number, runs in found.items()
    }
    missed = [number for number, bar in BARS.items() if number in ratios and median(ratios[number]) > bar]
    failed = any(each.errors for runs in found.values() for each in runs)
    if as_json:
        runs = {number: [each._asdict() for each in each_runs] for number, each_runs in found.items()}
        print(json.dumps({"runs": runs, "ratios": ratios, "missed": missed}))
    else:
        table = Table("writers", "ms of processor a match", "× one writer", "bar", "matches/s", "slowest ms", "errors")
        for number, runs_of in found.items():
            own = [each.processor for each in runs_of]
            table.add_row(
                str(number),
                f"{median(own):.2f} ({min(own):.2f}–{max(own):.2f})",
                f"{median(ratios[number]):.2f}",
                f"≤ {BARS[number]}" if number in BARS else "",
                f"{median(each.rate for each in runs_of):,.0f}",
                f"{max(each.slowest for each in runs_of):.0f}",
                str(sum(each.errors for each in runs_of)),
            )
        Console().print(table)
    raise SystemExit(1 if missed or failed else 0)


if __name__ == "__main__":
    main()
