"""The fitted ladder: ratings with standard errors, and the ranks that follow. A pure function of the results.

Scale: the mean of the anchors that have played is 1500; if none has, that of all nodes that have played; if nobody has,
1500 is the centre of the prior. The mean of nodes that are no anchors weighs each by the information of its results,
and errors are those relative to it: a newcomer, of which nothing is known, makes nobody else's larger. The anchors'
mean has an error relative to it, too, the scale's, which all ratings have in common. Figures are rounded to grids much
finer than their errors, so that they do not depend on the last bits of a machine's exponential function.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.clustered_errors import clustered
from arena.ladder.columns import Columns, EventValidator
from arena.ladder.entrants import Entrants
from arena.ladder.events import Entrant, Event, MatchResult
from arena.ladder.fit import Fit, Floats, fit
from arena.ladder.ladder import ESTABLISHED_MAX_ERROR, FieldFigures, Figure, Ladder, LadderLine
from arena.ladder.live import NEW, SCALE
from arena.ladder.pairs import Pairs
from arena.ladder.rank_intervals import chances_of_best, rank_bounds
from arena.ladder.shrinkage import shrunk

ELO_GRID: Final = 2.0**-10
CHANCE_GRID: Final = 2.0**-20


class FittedLadder:
    """A ladder that is fitted again as events arrive: counts over earlier events are kept and updated."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Begin with the events from number 1 on. Raises LadderError as `Columns.of`."""
        self._validator = EventValidator()
        self._columns = Columns.of(events, self._validator)
        self._new: dict[int, MatchResult] = {}
        self._voided: list[int] = []
        self._rated = Entrants(())
        self._pairs: Pairs | None = None

    @property
    def through(self) -> int:
        """Number of the last event taken."""
        return self._validator.through

    def take(self, event: Event) -> None:
        """Take the next event. Raises LadderError, and ignores the event, if it is malformed or out of sequence."""
        if isinstance(event, MatchResult):
            Columns.of_results((event,))
        self._validator.accept(event)
        if isinstance(event, MatchResult):
            self._new[event.match_id] = event
        elif self._new.pop(event.match_id, None) is None:
            self._voided.append(event.match_id)

    def columns(self) -> Columns:
        """Return the standing results of all events taken."""
        kept = self._columns.without(self._voided)
        return replace(kept.joined(Columns.of_results(tuple(self._new.values()))), through=self.through)

    def ladder(self, entrants: Iterable[Entrant]) -> Ladder:
        """Fit the ladder of all events taken, bit for bit equal to `ladder(entrants, self.columns())`.

        Raises LadderError as `ladder`; the events remain taken, and the call can be repeated with other entrants.
        """
        rated, columns = Entrants(entrants), self.columns()
        if self._pairs is None or not set(self._rated.nodes) <= set(rated.nodes):
            rated.check_known(columns)
            pairs = Pairs.of(columns, rated)
        else:
            new = Columns.of_results(tuple(self._new.values()))
            rated.check_known(new)
            pairs = self._pairs.reindexed(self._rated, rated) + Pairs.of(new, rated)
            if self._voided:
                pairs -= Pairs.of(self._columns.only(self._voided), rated)
        self._rated, self._pairs, self._columns = rated, pairs, columns
        self._new, self._voided = {}, []
        return _ladder(rated, columns, pairs)


def ladder(entrants: Iterable[Entrant], columns: Columns) -> Ladder:
    """Fit the ladder of these results; the order of entrants and results does not matter.

    Without entrants it is empty; without results every rating is the prior's and provisional. Raises NodeRepeated,
    UnknownParent or CyclicParents for contradictory entrants, UnknownNode for a seat that is no entrant's, and
    NotConverged.
    """
    rated = Entrants(entrants)
    rated.check_known(columns)
    return _ladder(rated, columns, Pairs.of(columns, rated))


def _ladder(rated: Entrants, columns: Columns, pairs: Pairs) -> Ladder:
    solution = fit(pairs, rated.parents)
    field, anchors = _field(solution), _anchors(rated, pairs)
    scale = anchors if anchors.any() else field
    model = solution.covariance(solution.information)
    empirical = solution.covariance(clustered(columns, rated, solution.expectations) + solution.prior)
    own = np.diag(_on_scale(model, field))
    uncertain = _uncertain(own)
    strengths = solution.strengths - float((solution.strengths * scale).sum())
    ratings = _on_grid(NEW.value + SCALE * strengths, ELO_GRID)
    errors = _errors(_combined(own, np.diag(_on_scale(empirical, field)), uncertain))
    both = uncertain | uncertain[:, None]
    differences = SCALE**2 * _combined(_of_differences(model), _of_differences(empirical), both)
    moved, moved_empirical = (np.array([_of_combination(each, scale - field)]) for each in (model, empirical))
    scale_error = float(_errors(_combined(moved, moved_empirical, _uncertain(moved)))[0])
    known = (ratings, errors, pairs.matches, _opponents(rated, pairs))
    figures = tuple(map(Figure, rated.nodes, *(each.tolist() for each in known)))
    lines, centre, spread = _lines(rated, figures, ratings, errors, differences)
    common = FieldFigures(scale_error, centre, spread)
    return Ladder(lines, figures, columns.through, _digest(lines, figures, common), common)


def _errors(variances: Floats) -> Floats:
    """Convert variances in squared log odds to standard errors in Elo."""
    return _on_grid(SCALE * np.sqrt(np.maximum(variances, 0.0)), ELO_GRID)


def _uncertain(variances: Floats) -> NDArray[np.bool_]:
    uncertain: NDArray[np.bool_] = SCALE**2 * variances > ESTABLISHED_MAX_ERROR**2
    return uncertain


def _combined(model: Floats, empirical: Floats, uncertain: NDArray[np.bool_]) -> Floats:
    """Choose between two estimates of variances: the empirical one, or the larger of both where `uncertain`.

    The model's variances are too large where there are ties; empirical ones are too small where there are few matches.
    """
    return np.where(uncertain, np.maximum(model, empirical), empirical)


def _field(solution: Fit) -> Floats:
    """Compute the weights [n] of the field's mean: the information of each node's results; 0 if nobody has played."""
    information = np.diag(solution.information) - np.diag(solution.prior)
    total = float(information.sum())
    return information / total if total > 0 else np.zeros_like(information)


def _anchors(rated: Entrants, pairs: Pairs) -> Floats:
    """Compute the weights [n] of the mean of the anchors that have played; 0 if none has."""
    played = (pairs.played + pairs.played_alone).sum(axis=1) > 0
    anchors = played & np.array([entrant.anchor for entrant in rated.entrants], np.bool_)
    return np.where(anchors, 1 / max(1.0, float(anchors.sum())), 0.0)


def _on_scale(covariance: Floats, shares: Floats) -> Floats:
    """Compute the covariance of θ_i − Σ_k share_k·θ_k."""
    common = (covariance * shares).sum(axis=1)
    moved: Floats = covariance - common[:, None] - common + (common * shares).sum()
    return moved


def _of_combination(covariance: Floats, weights: Floats) -> float:
    """Compute the variance of Σ_k weight_k·θ_k."""
    return float(((covariance * weights).sum(axis=1) * weights).sum())


def _of_differences(covariance: Floats) -> Floats:
    """Compute the variances [n, n] of θ_i − θ_j."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, 0.0)


def _opponents(rated: Entrants, pairs: Pairs) -> NDArray[np.int64]:
    """Count the distinct other bots [n] that each node has played; versions of one bot are one."""
    met = np.zeros((len(rated), len(rated)), np.bool_)
    for position, family in enumerate(rated.families):
        met[:, family] |= (pairs.played + pairs.played_alone)[:, position] > 0
    met[np.arange(len(rated)), rated.families] = False
    opponents: NDArray[np.int64] = met.sum(axis=1)
    return opponents


def _lines(
    rated: Entrants, figures: Sequence[Figure], ratings: Floats, errors: Floats, differences: Floats
) -> tuple[tuple[LadderLine, ...], float, float]:
    """Rank the newest versions; returns the lines, and the centre and the spread of their strengths."""
    newest = [position for position, entrant in enumerate(rated.entrants) if entrant.newest]
    ratings, errors, differences = ratings[newest], errors[newest], differences[np.ix_(newest, newest)]
    posterior = shrunk(ratings, errors)
    means, deviations = _on_grid(posterior.means, ELO_GRID), _on_grid(posterior.errors, ELO_GRID)
    lows, highs = rank_bounds(means, ratings, differences)
    chances = _on_grid(chances_of_best(means, deviations), CHANCE_GRID)
    ranks = 1 + (means[:, None] > means).sum(axis=0)
    found = (means, deviations, ranks, lows, highs, chances)
    lines = []
    for position, *shown in zip(newest, *(each.tolist() for each in found), strict=True):
        node, rating, error, matches, opponents = figures[position]
        mean, deviation, rank, low, high, best = shown
        lines.append(LadderLine(node, rating, error, mean, deviation, rank, low, high, best, matches, opponents))
    centre, spread = _on_grid(np.array([posterior.centre, posterior.spread]), ELO_GRID).tolist()
    return tuple(sorted(lines, key=lambda line: (line.rank, line.node))), centre, spread


def _on_grid(values: Floats, grid: float) -> Floats:
    rounded: Floats = np.rint(values / grid) * grid
    return rounded


def _digest(lines: Sequence[LadderLine], figures: Sequence[Figure], common: FieldFigures) -> str:
    digest = hashlib.sha256(struct.pack("<ddd", *common))
    for figure in figures:
        digest.update(struct.pack("<qddqq", *figure))
    for line in lines:
        digest.update(struct.pack("<qddddqqqdqq", *line))
    return digest.hexdigest()
