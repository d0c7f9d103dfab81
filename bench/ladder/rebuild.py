"""Time to compute the ladder of a million matches on one core, and a check that the order of the matches has no effect.

The measurement runs in a separate Python process on one core with one thread. 200 bots play at tables of 2, 4 and 6
seats, with ties. A hundred results are annulled later. Times are the median processor time of several runs.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Final

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Event, MatchResult, Node, Void
from arena.ladder.fitted import ladder
from arena.ladder.ladder import Ladder
from bench.ladder.arrays import columns_of
from bench.ladder.figures import Effort, Figure, at_most
from bench.ladder.world import NOBODY, Conditions, play

BOTS: Final = 200
VOIDS: Final = 100
MATCHES: Final = 1_000_000
SHUFFLES: Final = 10


def events_of(matches: int, chance: np.random.Generator) -> tuple[tuple[Entrant, ...], list[Event]]:
    """Simulate `matches` results, some of which are annulled afterwards. Return the entrants and the events."""
    a_round = np.mean([BOTS // seats for seats in (2, 4, 6)])
    season = play(Conditions((2, 4, 6), 0.15), int(1.1 * matches / a_round) + 10, chance, BOTS)
    seats = (season.nodes != NOBODY).sum(axis=1)[:matches].tolist()
    nodes, places = season.nodes[:matches].tolist(), season.places[:matches].tolist()
    yes = {number: (True,) * number for number in (2, 4, 6)}
    events: list[Event] = [
        MatchResult(number, number, tuple(map(Node, who[:n])), tuple(place[:n]), yes[n])
        for number, (n, who, place) in enumerate(zip(seats, nodes, places, strict=True), start=1)
    ]
    gone = chance.choice(matches, VOIDS, replace=False) + 1
    events += [Void(matches + n, match, "played by mistake") for n, match in enumerate(gone.tolist(), start=1)]
    return season.entrants, events


def shuffled(results: Columns, chance: np.random.Generator) -> Columns:
    """Return the same matches in random order."""
    order = chance.permutation(len(results))
    return columns_of(
        results.nodes[order],
        results.places[order],
        results.counts[order],
        results.match_id[order],
        results.through,
        results.spoilt[order],
    )


def renumbered(events: Sequence[Event], chance: np.random.Generator) -> list[Event]:
    """Return the results in random order as events with new numbers, followed by the events that annul some."""
    results = [event for event in events if isinstance(event, MatchResult)]
    order = chance.permutation(len(results)).tolist()
    mixed: list[Event] = [results[at]._replace(number=number) for number, at in enumerate(order, start=1)]
    return mixed + [event for event in events if isinstance(event, Void)]


def timed(make: Callable[[], Ladder], turns: int) -> tuple[float, Ladder]:
    """Call `make` several times. Return the median processor time in seconds and the last ladder."""
    times = []
    for _ in range(turns):
        gc.collect()
        began = process_time()
        made = make()
        times.append(process_time() - began)
    return median(times), made


def run(matches: int, shuffles: int, turns: int, seed: int) -> dict[str, float]:
    """Measure in this process: the seconds from columns and from events, and the number of different digests."""
    chance = np.random.default_rng([seed, 5])
    entrants, events = events_of(matches, chance)
    gc.freeze()
    from_events, whole = timed(lambda: ladder(entrants, Columns.of(events)), turns)
    results = Columns.of(events)
    from_columns, same = timed(lambda: ladder(entrants, results), turns)
    digests = {ladder(entrants, shuffled(results, chance)).digest for _ in range(shuffles)}
    digests |= {whole.digest, same.digest, ladder(entrants, Columns.of(renumbered(events, chance))).digest}
    return {"from_columns": from_columns, "from_events": from_events, "digests": len(digests)}


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure in a separate process on one core. With less effort, run fewer matches and check no time limits."""
    matches, turns = effort.of(50_000, MATCHES, MATCHES), effort.of(1, 3, 7)
    settings = [str(value) for value in (matches, SHUFFLES, turns, seed)]
    ran = subprocess.run(
        [sys.executable, "-m", "bench.ladder.rebuild", *settings], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float] = json.loads(ran.stdout)
    full = matches == MATCHES
    of = f"{matches:,} matches"
    return [
        Figure(f"different digests of {of}", found["digests"], ".0f", bar=at_most(1), note=f"{SHUFFLES + 1} shuffles"),
        Figure(f"rebuild of {of} from columns", found["from_columns"], ".2f", "s", bar=at_most(2) if full else None),
        Figure(f"rebuild of {of} from events", found["from_events"], ".2f", "s", bar=at_most(20) if full else None),
    ]


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(json.dumps(run(*map(int, sys.argv[1:]))))
