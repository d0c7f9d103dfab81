"""Cost per decision and per bot on servers with an increasing number of bots, each with its own connection."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench._server import TABLES, play, resident, serving

CROWDS: Final = (10, 200, 1_000, 2_000, 5_000)
FEW: Final = 200
MANY: Final = 2_000
MOST: Final = 1.3
"""Maximum cost of a decision with `MANY` bots, as a multiple of its cost with `FEW` bots."""
ROOM: Final = ("--connections", "12000", "--registrations-per-address", "20000", "--work-untrusted", "1000")
"""Options of `arena serve` that let thousands of bots register and connect from one address."""


class Crowd(NamedTuple):
    """One measurement with a given number of bots."""

    server_cpu_us: float
    """Processor time of the server's main process per decision, in microseconds."""
    helpers_cpu_us: float
    per_second: float
    p99_us: float
    seating_cpu_ms: float
    """Processor time of the main process to register, connect and seat one bot, in milliseconds."""
    memory: int
    """Memory of the main process, in bytes."""


def measure(bots: int, seconds: float, warm_up: float, compiled: bool, matches: float = 1.0) -> Crowd:
    """Let bots with one match each play on a new server.

    All matches begin together, so they end at about the same time. Therefore the measurement continues until
    the bots have ended `matches` matches each on average.
    """
    with (
        tempfile.TemporaryDirectory() as data,
        serving(Path(data), *TABLES, "--no-house", *ROOM, compiled=compiled) as (process, address),
    ):
        found = play(address, process.pid, bots, 1, seconds, warm_up, go=True, matches=matches)
        memory = resident(process.pid)
    return Crowd(
        found.server_cpu_us,
        found.helpers_cpu_us,
        found.per_second,
        found.p99_us,
        1e3 * found.seating_cpu_s / bots,
        memory,
    )


def ratio(turns: dict[int, list[Crowd]]) -> float | None:
    """Return the cost of a decision with `MANY` bots divided by its cost with `FEW` bots, as the median over turns."""
    if not {FEW, MANY} <= {*turns}:
        return None
    pairs = zip(turns[MANY], turns[FEW], strict=True)
    return median(many.server_cpu_us / few.server_cpu_us for many, few in pairs)


def middle(crowds: Sequence[Crowd]) -> Crowd:
    """Compute the median of each figure over several measurements."""
    return Crowd(*(median(column) for column in zip(*crowds, strict=True)))
