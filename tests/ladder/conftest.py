"""Seasons of matches between bots of known strength. The same seed gives the same season."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

import pytest

from arena.ladder.events import MatchResult, Node

Season: TypeAlias = Callable[..., list[MatchResult]]


def _season(
    seed: int,
    nodes: Sequence[int],
    matches: int,
    seats: Sequence[int] = (4,),
    grid: float = 0.5,
    spoilt: float = 0.0,
) -> list[MatchResult]:
    """Simulate a season in which node k has the strength k/20. A coarse `grid` leads to ties.

    A share `spoilt` of the seats, drawn at random, is spoilt. As under the older rule, the results of another random
    share of the same size do not count.
    """
    chance = Random(seed)
    results = []
    for number in range(1, matches + 1):
        table = [Node(node) for node in chance.sample(nodes, chance.choice(seats))]
        points = [round((node / 20 + chance.gauss(0, 1)) / grid) for node in table]
        places = tuple(1 + sum(other > own for other in points) for own in points)
        marks = tuple(chance.random() >= spoilt for _ in table)
        bad = tuple(chance.random() < spoilt for _ in table) if spoilt else ()
        results.append(MatchResult(number, 1000 + number, tuple(table), places, marks, bad))
    return results


@pytest.fixture(scope="session")
def season() -> Season:
    return _season
