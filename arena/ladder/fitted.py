"""The fitted ladder: ratings with standard errors, and ranks, as a pure function of the results.

Scale: 1500 is the mean of the anchors that have played. If none has, it is the mean of all nodes that have played, or
else the centre of the prior. Errors are relative to the field's mean, in which each node that is not an anchor is
weighted by the information of its results. So an unknown newcomer does not increase the others' errors. The anchors'
mean also has an error relative to the field's mean: the error of the scale, which all ratings share. Figures are
rounded to grids much finer than their errors, so that they do not depend on the last bits of a machine's exponential
function.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.columns import SHARE, Columns, EventValidator
from arena.ladder.events import Entrant, Event, MatchResult
from arena.ladder.fit import fit
from arena.ladder.ladder import NO_QUOTA, FieldFigures, Figure, Ladder, LadderLine, Quota
from arena.ladder.live import NEW, SCALE
from arena.ladder.pair_quota import PairQuota, under_quota
from arena.ladder.pairs import Entrants, Pairs, summed
from arena.ladder.shrinkage import Posterior, shrunk
from arena.ladder.standard_errors import chances_of_best, clustered, field_shares, rank_bounds, standard_errors
from arena.ladder.symmetric import Floats

ELO_GRID: Final = 2.0**-10
CHANCE_GRID: Final = 2.0**-20


class FittedLadder:
    """A ladder that is fitted again as events arrive. New events update its counts."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Start with the events from number 1 on. Raises: LadderError: As in `Columns.of`."""
        self._validator = EventValidator()
        self._columns = Columns.of(events, self._validator)
        self._new: dict[int, MatchResult] = {}
        self._voided: list[int] = []
        self._rated = Entrants(())
        self._pairs: Pairs | None = None

    @property
    def through(self) -> int:
        """Number of the last applied event."""
        return self._validator.through

    def take(self, event: Event) -> None:
        """Apply the next event. If the event has an error, leave the ladder unchanged.

        Raises:
            LadderError: the event is malformed or out of sequence.
        """
        if isinstance(event, MatchResult):
            Columns.of_results((event,))
        self._validator.accept(event)
        if isinstance(event, MatchResult):
            self._new[event.match_id] = event
        elif self._new.pop(event.match_id, None) is None:
            self._voided.append(event.match_id)

    def columns(self) -> Columns:
        """Return the results of all applied events, without annulled results."""
        kept = self._columns.without(self._voided)
        return replace(kept.joined(Columns.of_results(tuple(self._new.values()))), through=self.through)

    def ladder(self, entrants: Iterable[Entrant], quota: PairQuota | None = None) -> Ladder:
        """Fit the ladder of all applied events, bit for bit equal to `ladder(entrants, self.columns(), quota)`.

        Raises LadderError like `ladder`. The events stay applied, so the call can be repeated with other entrants.
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
        weighed = under_quota(columns, quota)
        if weighed.shares is not None:  # the counts ignore the quota, whose effect changes with every match
            less = (weighed.shares != SHARE).any(axis=1)
            if weighed.later_shares is not None:
                less |= (weighed.later_shares != SHARE).any(axis=1)
            beyond = weighed.only(weighed.match_id[less])
            whole = replace(beyond, shares=None, later_shares=None)
            pairs = pairs - Pairs.of(whole, rated) + Pairs.of(beyond, rated)
        return _ladder(rated, weighed, pairs, quota)


def ladder(entrants: Iterable[Entrant], columns: Columns, quota: PairQuota | None = None) -> Ladder:
    """Fit the ladder of the given results. The order of entrants and results does not matter.

    Without entrants the ladder is empty. Without results every rating is the prior's, and provisional. Raises
    UnknownNode for a seat whose node is not an entrant, and LadderError for contradictory entrants or if the fit fails.
    """
    rated = Entrants(entrants)
    rated.check_known(columns)
    weighed = under_quota(columns, quota)
    return _ladder(rated, weighed, Pairs.of(weighed, rated), quota)


def _ladder(rated: Entrants, columns: Columns, pairs: Pairs, quota: PairQuota | None) -> Ladder:
    strengths, information = fit(pairs)
    opponents = _opponents(rated, pairs)
    anchors = _anchors(rated, opponents)
    scale = anchors if anchors.any() else field_shares(information)
    newest = np.array([at for at, entrant in enumerate(rated.entrants) if entrant.newest], np.int64)
    found = standard_errors(information, clustered(columns, rated, strengths), newest, scale)
    ratings = _on_grid(NEW.value + SCALE * (strengths - float((strengths * scale).sum())), ELO_GRID)
    errors = _on_grid(found.own, ELO_GRID)
    known = (ratings, errors, pairs.matches, opponents)
    figures = tuple(map(Figure, rated.nodes, *(each.tolist() for each in known)))
    posterior = shrunk(ratings[newest], errors[newest], _older(rated, ratings, errors))
    lines = _lines(newest, figures, posterior, ratings[newest], found.differences)
    centre, spread = _on_grid(np.array([posterior.centre, posterior.spread]), ELO_GRID).tolist()
    common = FieldFigures(float(_on_grid(np.array(found.scale), ELO_GRID)), centre, spread)
    rule = NO_QUOTA if quota is None else quota.rule
    digest = _digest(lines, figures, common, rule)
    return Ladder(lines, figures, columns.through, digest, common, quota=rule)


def _anchors(rated: Entrants, opponents: NDArray[np.int64]) -> Floats:
    """Compute the weights [n] of the mean of the anchors that have played. They are 0 if no anchor has played."""
    anchors = (opponents > 0) & np.array([entrant.anchor for entrant in rated.entrants], np.bool_)
    return np.where(anchors, 1 / max(1.0, float(anchors.sum())), 0.0)


def _opponents(rated: Entrants, pairs: Pairs) -> NDArray[np.int64]:
    """Count the different bots [n] that each node has played. Versions of one bot count once."""
    both, alone = pairs.played.tocoo(), pairs.played_alone.tocoo()
    own = np.concatenate((both.row, both.col, alone.row))
    families = rated.families[np.concatenate((both.col, both.row, alone.col))]
    others = families != rated.families[own]
    met = summed(own[others], families[others], np.ones(int(others.sum()), np.int64), len(rated))
    opponents: NDArray[np.int64] = np.diff(met.indptr).astype(np.int64)
    return opponents


def _older(rated: Entrants, ratings: Floats, errors: Floats) -> list[tuple[Floats, Floats]]:
    """Return, for each bot on the ladder, the ratings and errors of its older versions."""
    by_bot: dict[int, list[int]] = {}
    for position, (entrant, family) in enumerate(zip(rated.entrants, rated.families.tolist(), strict=True)):
        if not entrant.newest:
            by_bot.setdefault(family, []).append(position)
    newest = (family for entrant, family in zip(rated.entrants, rated.families.tolist(), strict=True) if entrant.newest)
    return [(ratings[by_bot.get(family, [])], errors[by_bot.get(family, [])]) for family in newest]


def _lines(
    newest: NDArray[np.int64], figures: Sequence[Figure], posterior: Posterior, ratings: Floats, differences: Floats
) -> tuple[LadderLine, ...]:
    """Rank the newest versions by posterior strength. Rank intervals follow from ratings [k] and differences [k, k]."""
    means, deviations = _on_grid(posterior.means, ELO_GRID), _on_grid(posterior.errors, ELO_GRID)
    lows, highs = rank_bounds(means, ratings, differences)
    chances = _on_grid(chances_of_best(means, deviations), CHANCE_GRID)
    ranks = 1 + (means[:, None] > means).sum(axis=0)
    found = (means, deviations, ranks, lows, highs, chances)
    lines = []
    for position, *shown in zip(newest.tolist(), *(each.tolist() for each in found), strict=True):
        node, rating, error, matches, opponents = figures[position]
        mean, deviation, rank, low, high, best = shown
        lines.append(LadderLine(node, rating, error, mean, deviation, rank, low, high, best, matches, opponents))
    return tuple(sorted(lines, key=lambda line: (line.rank, line.node)))


def _on_grid(values: Floats, grid: float) -> Floats:
    rounded: Floats = np.rint(values / grid) * grid
    return rounded


def _digest(lines: Sequence[LadderLine], figures: Sequence[Figure], common: FieldFigures, rule: Quota) -> str:
    digest = hashlib.sha256(struct.pack("<ddd", *common))
    if rule.bounds:
        digest.update(struct.pack("<q", rule.day))  # the format of ladders from before weekly quotas
    if rule.week or rule.young_days:
        digest.update(struct.pack("<q", rule.week))
    if rule.young_days:
        digest.update(struct.pack("<q", rule.young_days))
    for figure in figures:
        digest.update(struct.pack("<qddqq", *figure))
    for line in lines:
        digest.update(struct.pack("<qddddqqqdqq", *line))
    return digest.hexdigest()
