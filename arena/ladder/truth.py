"""The ladder: every rating with what is known of its error, and the ranks that follow. A pure function of the results.

The scale: the anchors that have played have the mean 1500; where none has, all that have played; where nobody has, it
is the middle of the prior. A figure's error includes that of the scale. Figures are on grids much finer than their
errors, so that the last bits of another machine's exponential function do not show in them.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.chances import chances_of_best, rank_bounds
from arena.ladder.clusters import clustered
from arena.ladder.columns import Audit, Columns
from arena.ladder.events import Entrant, Event, Result
from arena.ladder.fit import SPREAD, Floats, fit
from arena.ladder.ladder import SETTLED, Figure, Ladder, Line
from arena.ladder.live import NEW, SCALE
from arena.ladder.pairs import Pairs
from arena.ladder.roster import Roster

ELO_GRID: Final = 2.0**-10
CHANCE_GRID: Final = 2.0**-20


class Truth:
    """The truth layer as the events come in: what was counted once is not counted again."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """From a list's beginning, with the checks of `Columns.of`."""
        self._audit = Audit()
        self._columns = Columns.of(events, self._audit)
        self._fresh: dict[int, Result] = {}
        self._voided: list[int] = []
        self._roster = Roster(())
        self._pairs: Pairs | None = None

    @property
    def through(self) -> int:
        """The number of the last event taken."""
        return self._audit.through

    def take(self, event: Event) -> None:
        """The next event. LadderError, and the event is not taken, where it is unsound or does not fit those before."""
        if isinstance(event, Result):
            Columns.of_results((event,))
        self._audit.pass_on(event)
        if isinstance(event, Result):
            self._fresh[event.match] = event
        elif self._fresh.pop(event.match, None) is None:
            self._voided.append(event.match)

    def columns(self) -> Columns:
        """The standing results of all events taken."""
        kept = self._columns.without(self._voided)
        return replace(kept.joined(Columns.of_results(tuple(self._fresh.values()))), through=self.through)

    def ladder(self, entrants: Iterable[Entrant]) -> Ladder:
        """The ladder of all events taken: bit for bit what `ladder(entrants, truth.columns())` is.

        LadderError as there; the events stay taken, and other entrants can be tried.
        """
        roster, columns = Roster(entrants), self.columns()
        if self._pairs is None or not set(self._roster.nodes) <= set(roster.nodes):
            roster.must_know(columns)
            pairs = Pairs.of(columns, roster)
        else:
            fresh = Columns.of_results(tuple(self._fresh.values()))
            roster.must_know(fresh)
            pairs = self._pairs.over(self._roster, roster) + Pairs.of(fresh, roster)
            if self._voided:
                pairs -= Pairs.of(self._columns.only(self._voided), roster)
        self._roster, self._pairs, self._columns = roster, pairs, columns
        self._fresh, self._voided = {}, []
        return _ladder(roster, columns, pairs)


def ladder(entrants: Iterable[Entrant], columns: Columns) -> Ladder:
    """The ladder of these results, the same whatever the order of both.

    NodeRepeated, UnknownParent or CyclicParents for contradictory entrants, UnknownNode for a match of somebody else.
    Without entrants it is empty; without results everybody is provisional at the prior.
    """
    roster = Roster(entrants)
    roster.must_know(columns)
    return _ladder(roster, columns, Pairs.of(columns, roster))


def _ladder(roster: Roster, columns: Columns, pairs: Pairs) -> Ladder:
    solution = fit(pairs, roster.parents)
    shares = _scale(roster, pairs)
    model = solution.covariance(solution.information)
    shown = solution.covariance(clustered(columns, roster, solution.expectations) + solution.prior)
    young = SCALE**2 * np.diag(_on_scale(model, shares)) > SETTLED**2
    strengths = solution.strengths - float((solution.strengths * shares).sum())
    ratings = _on_grid(NEW.value + SCALE * strengths, ELO_GRID)
    errors, own = (
        _on_grid(
            SCALE * np.sqrt(_believed(np.diag(_on_scale(model, by)), np.diag(_on_scale(shown, by)), young)), ELO_GRID
        )
        for by in (shares, _shares(_played(pairs)))
    )
    both = young | young[:, None]
    differences = SCALE**2 * _believed(_of_differences(model), _of_differences(shown), both)
    known = (ratings, errors, pairs.matches, _opponents(roster, pairs), own)
    figures = tuple(map(Figure, roster.nodes, *(each.tolist() for each in known)))
    lines = _lines(roster, figures, ratings, differences)
    return Ladder(lines, figures, columns.through, _digest(lines, figures))


def _believed(model: Floats, shown: Floats, young: NDArray[np.bool_]) -> Floats:
    """Variances: those the matches show, and the larger ones of the two while there are too few to show much.

    The model's alone are too large where there are ties, the others too small where there is little of anything.
    """
    return np.where(young, np.maximum(model, shown), shown)


def _scale(roster: Roster, pairs: Pairs) -> Floats:
    """[n], whose mean is the scale's 1500, as shares of 1; all 0 where nobody has played."""
    played = _played(pairs)
    anchors = played & np.array([entrant.anchor for entrant in roster.entrants], np.bool_)
    return _shares(anchors if anchors.any() else played)


def _played(pairs: Pairs) -> NDArray[np.bool_]:
    played: NDArray[np.bool_] = (pairs.played + pairs.played_alone).sum(axis=1) > 0
    return played


def _shares(of: NDArray[np.bool_]) -> Floats:
    return np.where(of, 1 / max(1.0, float(of.sum())), 0.0)


def _on_scale(covariance: Floats, shares: Floats) -> Floats:
    """The covariance of θ_i − Σ_k share_k·θ_k."""
    common = (covariance * shares).sum(axis=1)
    moved: Floats = covariance - common[:, None] - common + (common * shares).sum()
    return moved


def _of_differences(covariance: Floats) -> Floats:
    """[n, n], the variance of θ_i − θ_j."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, 0.0)


def _opponents(roster: Roster, pairs: Pairs) -> NDArray[np.int64]:
    """[n], how many other bots each node met."""
    met = np.zeros((len(roster), len(roster)), np.bool_)
    for position, family in enumerate(roster.families):
        met[:, family] |= (pairs.played + pairs.played_alone)[:, position] > 0
    met[np.arange(len(roster)), roster.families] = False
    opponents: NDArray[np.int64] = met.sum(axis=1)
    return opponents


def _lines(roster: Roster, figures: Sequence[Figure], ratings: Floats, differences: Floats) -> tuple[Line, ...]:
    newest = [position for position, entrant in enumerate(roster.entrants) if entrant.newest]
    ratings, differences = ratings[newest], differences[np.ix_(newest, newest)]
    errors = np.array([figures[position].error for position in newest])
    lows, highs = rank_bounds(ratings, differences)
    chances = _on_grid(chances_of_best(ratings, differences, errors <= SPREAD / 2), CHANCE_GRID)
    ranks = 1 + (ratings[:, None] > ratings).sum(axis=0)
    places = zip(newest, ranks.tolist(), lows.tolist(), highs.tolist(), chances.tolist(), strict=True)
    lines = []
    for position, rank, low, high, best in places:
        figure = figures[position]
        node, rating, error, matches, opponents, _ = figure
        lines.append(Line(node, rating, error, rank, low, high, best, matches, opponents, figure.provisional))
    return tuple(sorted(lines, key=lambda line: (line.rank, line.node)))


def _on_grid(values: Floats, grid: float) -> Floats:
    rounded: Floats = np.rint(values / grid) * grid
    return rounded


def _digest(lines: Sequence[Line], figures: Sequence[Figure]) -> str:
    digest = hashlib.sha256()
    for figure in figures:
        digest.update(struct.pack("<qddqqd", *figure))
    for line in lines:
        digest.update(struct.pack("<qddqqqdqq?", *line))
    return digest.hexdigest()
