"""The ladder under test, as arrays by node: its own functions make the columns, the fit and the errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.ladder import Ladder
from arena.ladder.truth import ladder
from bench.ladder.world import Floats, Ints, Season


class Fitted(NamedTuple):
    """A ladder, and of every node:"""

    ladder: Ladder
    ratings: Floats
    """In Elo."""
    errors: Floats
    """Standard errors, in Elo."""
    matches: Ints
    settled: frozenset[Node]
    """Those not provisional."""


def columns(season: Season, matches: int | None = None) -> Columns:
    """The first so many matches of a season, or all."""
    return Columns.of_arrays(season.nodes[:matches], season.places[:matches])


def fit(entrants: Sequence[Entrant], results: Columns) -> Fitted:
    """The published ladder of these results."""
    made = ladder(entrants, results)
    figures = made.figures
    return Fitted(
        made,
        np.array([figure.rating for figure in figures]),
        np.array([figure.error for figure in figures]),
        np.array([figure.matches for figure in figures]),
        frozenset(figure.node for figure in figures if not figure.provisional),
    )
