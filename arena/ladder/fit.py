"""The Bradley–Terry fit: maximum a posteriori strengths θ in log odds, by Newton's method.

We fit all results at once instead of updating ratings match by match, because our bots are frozen. A version's strength
never changes, so an old result is worth as much as a new one, and order carries no information. Sequential updates
would forget old results and depend on the order. In a fit, later results of one bot also correct the ratings of its
earlier opponents.

Each version has a strength θ, and i beats j with odds exp(θ_i − θ_j). The prior N(0, 250 Elo) is weak; it makes the
rating of a bot that never lost finite. 0 is the field's centre. The scale is fixed only afterwards
(`arena.ladder.fitted`). `arena.ladder.shrinkage` models the relation between versions of one bot; this fit does not.
The log posterior is concave, so Newton's method finds its only maximum from any starting point. A line search and a
maximum step size restrain the first steps. Each step solves a sparse system by conjugate gradients: time and memory
grow with the pairs that have met, not with the square of the versions.

Anyone must be able to recompute a published ladder bit for bit. So results enter as integer sums
(`arena.ladder.pairs`), all sums are in the order of the nodes, and the code uses neither random numbers nor BLAS, whose
results may depend on the number of threads. The score sums wins and losses separately, because their difference would
lose the digits of a very weak bot.

The ugly part is the pairs that count for one side only: losses of a bot that vanished, or meetings beyond the quota of
young bots. They belong to no likelihood, because none describes an outcome that counts for one bot and not for the
other. We fit all other pairs first, and then move each of these bots alone with its opponents fixed, so that no other
bot gains or loses. If two such bots have met, each move ignores the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from arena.ladder.columns import Flags, Ints
from arena.ladder.errors import LadderError
from arena.ladder.live import SCALE
from arena.ladder.pairs import UNIT, Pairs
from arena.ladder.symmetric import Floats, Symmetric

PRIOR_DEVIATION: Final = 250.0
"""Prior standard deviation of a version's strength about the field's centre, in Elo."""
PRIOR_PRECISION: Final = (SCALE / PRIOR_DEVIATION) ** 2
"""The prior's precision (inverse variance), for strengths in log odds."""
MAX_STEPS: Final = 100
"""Newton steps after which a fit fails. A usual ladder takes ten; if many bots never lose, up to forty."""
TOLERANCE: Final = 1e-12
"""Largest change in a step, in log odds, at which the fit counts as converged."""
STALL_TOLERANCE: Final = 1e-5
"""The fit also counts as converged once steps are smaller than this and no longer halve, because rounding limits the
precision of fits of a billion matches.
"""
MAX_STEP: Final = 4.0
"""Largest change of a strength in one step, in log odds. Far from the solution the slope is a poor guide."""
MIN_STEP_SHARE: Final = 1e-4
"""Smallest fraction of a Newton step that the line search tries."""


class Fit(NamedTuple):
    """Solution of the fit, by position of the entrants."""

    strengths: Floats
    """[n], log odds."""
    information: Symmetric
    """[n, n], the model's covariance of the scores, with the prior. Its inverse is the covariance of the strengths. In
    pairs that count for one side only, the opponent's strength is assumed to be known.
    """


def fit(pairs: Pairs) -> Fit:
    """Fit the strengths of all positions. Raises LadderError if Newton's method needs more than `MAX_STEPS` steps."""
    met, alone = _met(pairs.won, pairs.played), _met(pairs.won_alone, pairs.played_alone)
    size = len(pairs.matches)

    def score(tried: Floats) -> Floats:
        each = met.scores(tried, tried)
        return _by(met.own, each, size) - _by(met.other, each, size) - PRIOR_PRECISION * tried

    def step(here: Floats, missed: Floats) -> Floats:
        return _information(met, met.variances(here, here), pairs.played).solve(missed[:, None])[:, 0]

    strengths = _root(score, step, np.zeros(size))
    if len(alone.own):
        strengths = _moved_alone(met, alone, strengths)
    lonely = _by(alone.own, alone.variances(strengths, strengths), size)
    return Fit(strengths, _information(met, met.variances(strengths, strengths), pairs.played, lonely))


def expected(differences: Floats) -> tuple[Floats, Floats]:
    """Compute the expected scores E = 1/(1+exp(−d)) of both sides, from the differences d of their strengths.

    Small scores have the same relative precision as large ones.
    """
    odds = np.exp(-np.abs(differences))
    better, worse = 1 / (1 + odds), odds / (1 + odds)
    ahead = differences > 0
    return np.where(ahead, better, worse), np.where(ahead, worse, better)


class _Met(NamedTuple):
    """Pairs of nodes that have met, in the order of their positions. A win of weight 1 adds 1 to `won`."""

    own: Ints
    other: Ints
    won: Floats
    """Score of `own` against `other` [p]."""
    lost: Floats
    """Score of `other` against `own` [p]."""

    def scores(self, strengths: Floats, others: Floats) -> Floats:
        """Compute the score [p] of each node `own` from its pairs with `other`, whose strengths are in `others`.

        Wins and losses are weighted separately: won − played·E would cancel the digits of a small E.
        """
        ahead, behind = expected(strengths[self.own] - others[self.other])
        scores: Floats = self.won * behind - self.lost * ahead
        return scores

    def variances(self, strengths: Floats, others: Floats) -> Floats:
        """Compute the information in each pair [p] according to the model."""
        ahead, behind = expected(strengths[self.own] - others[self.other])
        variances: Floats = (self.won + self.lost) * ahead * behind
        return variances

    def of(self, chosen: Flags) -> _Met:
        """Return the pairs in which the node `own` is chosen. `chosen[n]` is True if node n is chosen."""
        kept = chosen[self.own]
        return _Met(self.own[kept], self.other[kept], self.won[kept], self.lost[kept])

    def joined(self, more: _Met) -> _Met:
        """Return these pairs together with the pairs in `more`."""
        own, other = np.concatenate((self.own, more.own)), np.concatenate((self.other, more.other))
        return _Met(own, other, np.concatenate((self.won, more.won)), np.concatenate((self.lost, more.lost)))


def _met(won: csr_array, played: csr_array) -> _Met:
    own, other, weights = _entries(played)
    winners, losers, scores = _entries(won)
    score = np.zeros_like(weights)  # a pair without a win or a tie is not stored in `won`
    size = played.shape[0]
    score[np.searchsorted(own * size + other, winners * size + losers)] = scores
    return _Met(own, other, score / UNIT, (weights - score) / UNIT)


def _entries(sums: csr_array) -> tuple[Ints, Ints, Ints]:
    """Return rows, columns and values of the stored entries."""
    entries = sums.tocoo()
    return entries.row.astype(np.int64), entries.col.astype(np.int64), entries.data


def _moved_alone(met: _Met, alone: _Met, still: Floats) -> Floats:
    """Move each node that has pairs in `alone`, with all other nodes fixed."""
    size = len(still)
    moved = np.zeros(size, np.bool_)
    moved[alone.own] = True
    turned = _Met(met.other, met.own, met.lost, met.won)
    own = met.of(moved).joined(turned.of(moved)).joined(alone)

    def score(tried: Floats) -> Floats:
        found = _by(own.own, own.scores(tried, still), size) - PRIOR_PRECISION * tried
        return np.where(moved, found, 0.0)

    def step(here: Floats, missed: Floats) -> Floats:
        return missed / (_by(own.own, own.variances(here, still), size) + PRIOR_PRECISION)

    return _root(score, step, still)


def _root(score: Callable[[Floats], Floats], step: Callable[[Floats, Floats], Floats], start: Floats) -> Floats:
    """Find the zero of `score` by Newton's method with a line search.

    `step` computes a step from a point and its score.
    """
    here, missed = start, score(start)
    before = np.inf
    for _ in range(MAX_STEPS):
        change = step(here, missed)
        largest = float(np.abs(change).max(initial=0.0))
        if largest <= TOLERANCE or before / 2 < largest < STALL_TOLERANCE:
            return here
        share = min(1.0, MAX_STEP / largest)
        while True:
            tried = here + share * change
            left = score(tried)
            if largest < STALL_TOLERANCE or share < MIN_STEP_SHARE or np.abs(left).max() < np.abs(missed).max():
                break
            share /= 2
        here, missed, before = tried, left, largest
    raise LadderError(f"no fit after {MAX_STEPS} steps, the last of which was {largest:.3g} (in log odds)")


def _information(met: _Met, variances: Floats, pattern: csr_array, known: Floats | float = 0.0) -> Symmetric:
    """Build the matrix of the equations: the negative derivatives of the scores by the strengths.

    `variances` [p] are the pairs' variances, in the order of `pattern`'s entries. `known` [n] is added to the diagonal.
    """
    size = pattern.shape[0]
    diagonal = _by(met.own, variances, size) + _by(met.other, variances, size) + known + PRIOR_PRECISION
    return Symmetric(diagonal, csr_array((-variances, pattern.indices, pattern.indptr), shape=pattern.shape))


def _by(positions: Ints, values: Floats, size: int) -> Floats:
    """Sum values by position, in the order in which they are given."""
    sums: Floats = np.bincount(positions, values, size).astype(np.float64)  # without pairs, bincount returns integers
    return sums
