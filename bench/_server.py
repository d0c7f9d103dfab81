"""Run a complete server on one core and bots on the other, and measure the processor time of both."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Final, NamedTuple

from bench._compiled import environment
from bench._limit import limit
from bench._pinned import CLIENT_CORE, SERVER_CORE, pin, program

TABLES: Final = ("--seats", "2", "--game", "sixth_sense", "--patience", "0")
"""Options of `arena serve` with which bots play two-seat games of 6th Sense against each other."""


class Play(NamedTuple):
    """Measurements over several seconds of play."""

    per_second: float
    """Decisions per second."""
    median_us: float
    """Median time from an answer to the next decision of the same match, in any seat, in microseconds."""
    p99_us: float
    server_cpu_us: float
    """Processor time of the server's main process per decision, in microseconds."""
    helpers_cpu_us: float
    """Processor time of the server's other processes (database, house bots, fits) per decision, in microseconds."""
    bots_cpu_us: float
    bytes: float
    """Mean size of a decision, in bytes."""
    batch: float
    """Mean number of decisions per message."""
    seating_cpu_s: float
    """Processor time of the main process until every bot had a seat, in seconds."""


@contextmanager
def server(
    data: Path, *options: str, house: bool = False, compiled: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server with the settings `TABLES`, with or without house bots; yield the process and its address."""
    with serving(data, *TABLES, "--house" if house else "--no-house", *options, compiled=compiled) as served:
        yield served


@contextmanager
def serving(data: Path, *options: str, compiled: bool = False) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `arena serve` on its own core; yield the process and its address."""
    command = [sys.executable, "-m", "arena.cli", "serve", "--quiet", *options, "--data", str(data)]
    process = subprocess.Popen(
        [*command, "--address", "127.0.0.1:0", "--drain", "0"],
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
        process.communicate(timeout=120)


def play(
    address: str,
    process: int,
    bots: int,
    capacity: int,
    seconds: float,
    warm_up: float,
    games: Sequence[str] = ("sixth_sense",),
    prefix: str = "bot",
    go: bool = False,
    matches: float = 0.0,
) -> Play:
    """Let bots play on a server, and measure.

    `capacity` is the number of matches that each bot plays at once. With `go`, the bots are in Go instead of Python.
    They measure for longer than `seconds` if necessary, until they have ended `matches` matches each on average.
    """
    if go:
        command = [str(limit()), "play", "-address", address, "-bots", str(bots), "-capacity", str(capacity)]
        command += ["-games", ",".join(games), "-prefix", prefix, "-seconds", str(seconds)]
        command += ["-matches", str(matches)]
    else:
        command = [sys.executable, "-m", "bench._bots", address, str(bots), str(capacity), str(seconds)]
        command += ["--games", ",".join(games), "--prefix", prefix]
    before = cpu(process)
    with program(command, CLIENT_CORE) as ask:
        ask()  # now every bot has a seat
        seating = cpu(process) - before
        unpin_helpers(process)  # helper processes start now; they must not occupy the server's core
        sleep(warm_up)
        others = unpin_helpers(process)
        main, helping = cpu(process), sum(map(cpu, others))
        load = json.loads(ask())
        main, helping = cpu(process) - main, sum(map(cpu, others)) - helping
    count = max(1, load["count"])
    return Play(
        load["count"] / load["seconds"],
        load["median_us"],
        load["p99_us"],
        1e6 * main / count,
        1e6 * helping / count,
        1e6 * load["cpu"] / count,
        load["bytes"] / count,
        load["count"] / max(1, load["messages"]),
        seating,
    )


def helpers(process: int) -> list[int]:
    """Return a server's child processes from /proc, or an empty list without /proc."""
    found = Path("/proc").glob(f"{process}/task/*/children")
    return [int(child) for children in found for child in children.read_text().split()]


def unpin_helpers(process: int) -> list[int]:
    """Let a server's child processes use both cores. Return all child processes."""
    found = helpers(process)
    for helper in found:
        for thread in Path(f"/proc/{helper}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {SERVER_CORE, CLIENT_CORE})
    return found


def resident(process: int) -> int:
    """Return the resident memory of a process in bytes."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith("VmRSS:")))


def cpu(process: int) -> float:
    """Return the processor time in seconds of all threads of a process, or NaN without /proc."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return math.nan
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
