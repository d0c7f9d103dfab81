"""Access to the ladder under test, with ratings and errors as arrays by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.ladder import Ladder, provisional
from bench.ladder.arrays import columns_of
from bench.ladder.world import Floats, Ints, Season


class Fitted(NamedTuple):
    """A fitted ladder, with its figures as arrays by node."""

    ladder: Ladder
    ratings: Floats
    """Ratings in Elo."""
    errors: Floats
    """Standard errors in Elo, without the error of the scale."""
    matches: Ints
    settled: frozenset[Node]
    """Nodes that are not provisional."""


def columns(season: Season, matches: int | None = None) -> Columns:
    """Return the results of a season, or of its first `matches` matches."""
    return columns_of(season.nodes[:matches], season.places[:matches])


def fit(entrants: Sequence[Entrant], results: Columns) -> Fitted:
    """Fit the ladder of these results in the same way as a server."""
    made = ladder(entrants, results)
    figures = made.figures
    return Fitted(
        made,
        np.array([figure.rating for figure in figures]),
        np.array([figure.error for figure in figures]),
        np.array([figure.matches for figure in figures]),
        frozenset(
            figure.node for figure in figures if not provisional(figure.error, figure.opponents, len(figures) - 1)
        ),
    )
