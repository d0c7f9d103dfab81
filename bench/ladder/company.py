"""Opponents that the real scheduler gives a ring whose members announce a very large capacity.

Honest bots announce the SDK's default capacity. Matches have random lengths, and every bot below its capacity gets a
seat. Only the second half of the evening counts, because the ring first has to fill its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random
from typing import Final, NamedTuple

import numpy as np

from arena.ladder.live import SCALE
from arena.scheduling.candidate import Waiting
from arena.scheduling.information_gain import MatchValue
from arena.scheduling.pool import FREE_TABLES, Pool
from bench.ladder.collusion import TABLE, mean_error
from bench.ladder.figures import Effort, Figure, with_progress

RING: Final = 4
ROOM: Final = 64
"""Number of simultaneous matches that each ring member announces."""
SECONDS: Final = 2.0
"""Mean length of a match in seconds."""
EVENING: Final = 60.0
HONEST: Final = (8, 20, 40)
HOUSE: Final = (-1, -2, -3)
SETTLED: Final = MatchValue((20 / SCALE) ** 2, 1.0)


class Company(NamedTuple):
    """The result of a simulated evening."""

    mates: float
    """Mean number of ring members among the three others at a ring member's table."""
    honest: float
    """Number of matches that an honest bot begins per second."""
    ring: float


def evening(honest: int, shared: bool, seed: int, ring: int = RING, room: int = ROOM) -> Company:
    """Simulate `honest` honest bots and a ring, all with different owners. The ring's bots have the lowest numbers."""
    chance, numbers = Random(seed), count()
    pool: Pool[int] = Pool(HOUSE, chance, shared=shared)
    capacities = [room] * ring + [FREE_TABLES] * honest
    busy, since = [0] * len(capacities), [0.0] * len(capacities)
    last = [0.0] * len(capacities)
    ends: list[list[float]] = [[] for _ in capacities]
    running: list[tuple[float, int, Sequence[int], float]] = []
    tables, mates = Counter[bool](), 0

    def enter(bot: int) -> None:
        left = capacities[bot] - busy[bot]
        free_at = -inf if left else min(ends[bot])
        pool.update(Waiting(bot, str(bot), since[bot], left, SETTLED, 0, last[bot], 0, True, free_at, False, busy[bot]))

    def form(now: float) -> float:
        nonlocal mates
        while table := pool.table(TABLE, now):
            guests = [bot for bot in table.bots if bot >= 0]
            seconds = SECONDS * chance.expovariate(1)
            heappush(running, (now + seconds, next(numbers), guests, seconds))
            own = sum(bot < ring for bot in guests)
            if now >= EVENING / 2:
                tables[True] += own
                tables[False] += len(guests) - own
                mates += own * (own - 1)
            for bot in guests:
                busy[bot] += 1
                since[bot] = now
                ends[bot].append(now + SECONDS)
                enter(bot)
        return pool.next_due(now)

    for bot in range(len(capacities)):
        enter(bot)
    now, due = 0.0, form(0.0)
    while now < EVENING:
        if running and running[0][0] <= due:
            now, _, guests, seconds = heappop(running)
            for bot in guests:
                if busy[bot] == capacities[bot]:
                    since[bot] = now
                busy[bot] -= 1
                last[bot] = seconds
                del ends[bot][0]
                enter(bot)
        else:
            now = due
        due = form(now)
    rates = [tables[own] / (EVENING / 2) / max(1, bots) for own, bots in ((False, honest), (True, ring))]
    return Company(mates / max(1, tables[True]), *rates)


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure a ring's opponents with and without a limit on one bot's share of the tables."""
    figures = []
    evenings = range(seed, seed + effort.of(1, 3, 10))
    for honest in HONEST:
        for shared in (False, True):
            found = [evening(honest, shared, each) for each in with_progress(evenings, f"a ring beside {honest}")]
            mates, rates, ring = (np.array(each) for each in zip(*found, strict=True))
            what = f"a ring of {RING} with room for {ROOM} beside {honest}, {'' if shared else 'not '}bounded"
            note = (
                f"an honest bot begins {rates.mean():.2f} ± {mean_error(rates):.2f} matches a second, each of the ring "
            )
            note += f"{ring.mean():.1f}; {len(evenings)} evenings"
            figures.append(Figure(f"{what}: mates of 3", mates.mean(), ".2f", "", mean_error(mates), note=note))
    return figures
