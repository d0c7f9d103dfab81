"""Time and memory for a ladder of ten thousand versions, and checks that order and incremental fits do not change it.

The measurement runs in a separate Python process on one core with one thread. 300 bots play a million matches of four.
At random times bots return as new versions, so versions that are far apart in time never meet. Times are processor
time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, islice
from time import process_time
from typing import Final

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Event, MatchResult, Node, Void
from arena.ladder.fit import fit
from arena.ladder.fitted import FittedLadder, ladder
from arena.ladder.pairs import Entrants, Pairs
from bench.ladder.arrays import columns_of
from bench.ladder.figures import Effort, Figure, at_most
from bench.ladder.rebuild import SHUFFLES, shuffled
from bench.ladder.world import ANCHORS, NOBODY, SEATS, SPREAD, STEP, Conditions, Season, ranked

BOTS: Final = 300
TABLE: Final = 4
CONDITIONS: Final = Conditions(ties=0.15)


def season_of(matches: int, versions: int, chance: np.random.Generator) -> Season:
    """Simulate `matches` matches of `BOTS` bots that have `versions` versions in total."""
    tables = BOTS // TABLE
    rounds = -(-matches // tables)
    entrants = [Entrant(Node(bot), anchor=bot < ANCHORS) for bot in range(BOTS)]
    strengths = [*chance.normal(0, SPREAD, BOTS)]
    seated, now = np.tile(np.arange(BOTS), (rounds, 1)), [*range(BOTS)]
    for at in np.sort(chance.integers(1, rounds, versions - BOTS)).tolist():
        bot, node = int(chance.integers(ANCHORS, BOTS)), Node(len(entrants))
        entrants[now[bot]] = entrants[now[bot]]._replace(newest=False)
        entrants.append(Entrant(node, parent=Node(now[bot])))
        strengths.append(strengths[now[bot]] + chance.normal(0, STEP))
        seated[at:, bot] = now[bot] = node
    order = chance.random((rounds, BOTS)).argsort(axis=1)
    nodes = np.full((matches, SEATS), NOBODY)
    nodes[:, :TABLE] = np.take_along_axis(seated, order, axis=1).reshape(-1, TABLE)[:matches]
    means = np.where(nodes == NOBODY, np.nan, np.array(strengths)[nodes])
    return Season(CONDITIONS, tuple(entrants), np.array(strengths), nodes, ranked(means, CONDITIONS, chance), means)


def results_of(season: Season) -> Iterator[MatchResult]:
    """List the results of a season as events."""
    for number, (who, places) in enumerate(zip(season.nodes, season.places, strict=True), start=1):
        seats = tuple(map(Node, who[:TABLE].tolist()))
        yield MatchResult(number, number, seats, tuple(places[:TABLE].tolist()), (True,) * TABLE)


def step_by_step(season: Season, entrants: tuple[Entrant, ...]) -> bool:
    """Return True if incremental fits equal a full fit, both after more results and after an old result is annulled."""
    count = len(season.nodes)
    void = Void(count + 1, 7, "played by mistake")
    results = results_of(season)
    fitted = FittedLadder(islice(results, count - 2_000))
    fitted.ladder(entrants)
    events: Iterator[Event] = chain(results, (void,))
    for event in events:
        fitted.take(event)
    grown = fitted.ladder(entrants)
    return grown == ladder(entrants, Columns.of(chain(results_of(season), (void,))))


def run(matches: int, versions: int, shuffles: int, seed: int) -> dict[str, float]:
    """Measure in this process."""
    chance = np.random.default_rng([seed, 7])
    season = season_of(matches, versions, chance)
    results = columns_of(season.nodes, season.places)
    began = process_time()
    rated = Entrants(season.entrants)
    pairs = Pairs.of(results, rated)
    counted = process_time() - began
    fit(pairs)
    ratings = process_time() - began
    began = process_time()
    first = ladder(season.entrants, results)
    whole = process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 30 if sys.platform == "darwin" else 1 << 20)
    digests = {first.digest} | {ladder(season.entrants, shuffled(results, chance)).digest for _ in range(shuffles)}
    return {
        "counted": counted,
        "ratings": ratings,
        "whole": whole,
        "memory": memory,
        "digests": len(digests),
        "grown": step_by_step(season, season.entrants),
    }


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure in a separate process on one core. With less effort, use a small ladder and no bars for time and
    memory.
    """
    matches, versions = effort.of(30_000, 1_000_000, 1_000_000), effort.of(600, 10_000, 10_000)
    settings = [str(value) for value in (matches, versions, SHUFFLES, seed)]
    ran = subprocess.run(
        [sys.executable, "-m", "bench.ladder.growth", *settings], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float] = json.loads(ran.stdout)
    full = matches == 1_000_000
    of = f"{versions:,} versions of {BOTS} bots, {matches:,} matches"
    note = f"{found['counted']:.1f} s of it to count pairs, which a server keeps"
    return [
        Figure(f"ratings of {of}", found["ratings"], ".1f", "s", bar=at_most(5) if full else None, note=note),
        Figure("the ladder, with all errors shown", found["whole"], ".1f", "s", bar=at_most(30) if full else None),
        Figure("memory, the matches included", found["memory"], ".2f", "GiB", bar=at_most(2) if full else None),
        Figure("different digests", found["digests"], ".0f", bar=at_most(1), note=f"{SHUFFLES + 1} shuffles"),
        Figure("fits step by step that differ", 1 - found["grown"], ".0f", bar=at_most(0), note="an old result void"),
    ]


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(json.dumps(run(*map(int, sys.argv[1:]))))
