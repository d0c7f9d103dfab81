"""The Bradley–Terry fit: the strengths that make all results likeliest, with a prior that keeps them finite.

Strengths θ are in log odds. The prior: a bot's first version is N(0, 250 Elo), 0 being wherever the field's middle is,
as the scale is fixed only afterwards. A later version is N(its parent, 60 Elo) jointly with it: that is a prior at the
parent's rating with variance SE² + 60², and the two learn from each other. It lets go of its parent by a hundredth with
each match, so that none makes the ratings jump, and with 100 it stands on its own as a first version. What counts for
one of a pair alone comes afterwards: it moves that one, with all others where they are, so that nobody else gains or
loses by it.
Nothing here uses BLAS or chance: the same bits come out whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.columns import Ints
from arena.ladder.errors import NotConverged
from arena.ladder.live import SCALE, STEP
from arena.ladder.pairs import UNIT, Pairs

Floats: TypeAlias = NDArray[np.float64]

SPREAD: Final = 250.0
"""Elo, of bots about the field's middle, before any match."""
GROWN: Final = 100
"""Matches with which a version leans on its parent no more; it does less with each."""
STEPS: Final = 100
"""Ten are enough for a common ladder; one where many never lose takes up to forty."""
CONVERGED: Final = 1e-12
"""The largest change, in log odds, that the last step may have made…"""
STALLED: Final = 1e-5
"""…or, among a billion of matches, one below this that rounding keeps from shrinking."""
LONGEST: Final = 4.0
"""Log odds a step may go at most; far away the slope says little."""
LEAST: Final = 1e-4
"""The smallest share of a step that is tried."""
SMALL: Final = 64
"""Rows up to which a matrix is inverted as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """What the equations' solution is, by position."""

    strengths: Floats
    """[n], log odds."""
    expectations: Floats
    """[n, n], E_ij."""
    bread: Floats
    """[n, n], how the strengths follow the scores: the inverse of the equations' slope."""
    information: Floats
    """[n, n], what the model says the scores' covariance is, that of the prior included."""
    prior: Floats
    """[n, n], the prior's precision P."""

    def covariance(self, scores: Floats) -> Floats:
        """Of the strengths, when the scores' covariance [n, n] is this."""
        both = _multiplied(_multiplied(self.bread, scores), self.bread.T)
        symmetric: Floats = (both + both.T) / 2
        return symmetric


def fit(pairs: Pairs, parents: Sequence[int | None]) -> Fit:
    """The fit, every position's parent given as a position. NotConverged when Newton's method does not come to rest."""
    prior = _precision(parents, pairs.matches)
    played, won = pairs.played / UNIT, pairs.won / UNIT
    alone, won_alone = pairs.played_alone / UNIT, pairs.won_alone / UNIT
    strengths = _root(
        lambda tried: _score(won, played, tried, tried) - _product(prior, tried),
        lambda tried: _slope(tried, played) + prior,
        np.zeros(len(parents)),
    )
    moved = _tied_to(np.any(pairs.played_alone, axis=1), prior)
    if moved.any():
        still = strengths
        own = _root(
            lambda tried: _score(won + won_alone, played + alone, tried, still) - _product(prior, tried),
            lambda tried: np.diag(((played + alone) * _variance(tried, still)).sum(axis=1)) + prior,
            still,
        )
        strengths = np.where(moved, own, still)
    lonely = (alone * _variance(strengths, strengths)).sum(axis=1)
    return Fit(
        strengths,
        expected(strengths, strengths),
        inverse(_slope(strengths, played + alone) + prior),
        _slope(strengths, played) + np.diag(lonely) + prior,
        prior,
    )


def _root(score: Callable[[Floats], Floats], slope: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Where the score is 0, by Newton's method; its steps are cut where they would go too far."""
    here, error = start, score(start)
    before = np.inf
    for _ in range(STEPS):
        step = _product(inverse(slope(here)), error)
        largest = float(np.abs(step).max(initial=0.0))
        if largest <= CONVERGED or before / 2 < largest < STALLED:
            return here
        share = min(1.0, LONGEST / largest)
        while True:
            tried = here + share * step
            missed = score(tried)
            if largest < STALLED or share < LEAST or np.abs(missed).max() < np.abs(error).max():
                break
            share /= 2
        here, error, before = tried, missed, largest
    raise NotConverged(STEPS, largest)


def _tied_to(nodes: NDArray[np.bool_], prior: Floats) -> NDArray[np.bool_]:
    """These and all whose prior depends on them."""
    while True:
        wider = nodes | (prior[:, nodes] != 0).any(axis=1)
        if (wider == nodes).all():
            return nodes
        nodes = wider


def expected(strengths: Floats, others: Floats) -> Floats:
    """E_ij = 1/(1+exp(θ_j−θ_i)), [n, n], of each against each of the others.

    Small ones have as many right digits as large ones; ones that exp could not express are of the order of 10⁻³⁰⁴.
    """
    chance: Floats = 1 / (1 + np.exp(np.minimum(others - strengths[:, None], 700.0)))
    return chance


def inverse(matrix: Floats) -> Floats:
    """Of a matrix whose diagonal dominates, so that it needs no pivots; always by the same operations.

    By halves: with a = A⁻¹ and S = D − CaB, the inverse of (A B; C D) is (a + aB·S⁻¹·Ca, −aB·S⁻¹; −S⁻¹·Ca, S⁻¹). Small
    ones by Gauss and Jordan.
    """
    size = len(matrix)
    if size > SMALL:
        half = size // 2
        above = inverse(matrix[:half, :half])
        right = _multiplied(above, matrix[:half, half:])
        left = _multiplied(matrix[half:, :half], above)
        below = inverse(matrix[half:, half:] - _multiplied(matrix[half:, :half], right))
        corner = _multiplied(right, below)
        return np.block([[above + _multiplied(corner, left), -corner], [-_multiplied(below, left), below]])
    work = matrix.copy()
    for k in range(size):
        row = work[k] / work[k, k]
        row[k] = 1 / work[k, k]
        column = work[:, k].copy()
        work[:, k] = 0
        work -= column[:, None] * row
        work[k] = row
    return work


def _multiplied(left: Floats, right: Floats) -> Floats:
    product: Floats = np.einsum("ij,jk->ik", left, right)
    return product


def _precision(parents: Sequence[int | None], matches: Ints) -> Floats:
    prior = np.zeros((len(parents), len(parents)))
    for node, parent in enumerate(parents):
        leaning = 0.0 if parent is None else max(0.0, 1 - int(matches[node]) / GROWN)
        prior[node, node] += (1 - leaning) * (SCALE / SPREAD) ** 2
        if parent is not None:
            tie = leaning * (SCALE / STEP) ** 2
            prior[node, node] += tie
            prior[parent, parent] += tie
            prior[node, parent] -= tie
            prior[parent, node] -= tie
    return prior


def _score(won: Floats, played: Floats, strengths: Floats, others: Floats) -> Floats:
    """Of each against all the others. Wins and losses stay apart: a difference from E would lose small E's digits."""
    score: Floats = (won * expected(others, strengths).T - (played - won) * expected(strengths, others)).sum(axis=1)
    return score


def _slope(strengths: Floats, weights: Floats) -> Floats:
    """What the scores lose with the strengths, the prior's part left out."""
    weighted = weights * _variance(strengths, strengths)
    slope: Floats = np.diag(weighted.sum(axis=1)) - weighted
    return slope


def _variance(strengths: Floats, others: Floats) -> Floats:
    variance: Floats = expected(strengths, others) * expected(others, strengths).T
    return variance


def _product(matrix: Floats, vector: Floats) -> Floats:
    product: Floats = (matrix * vector).sum(axis=1)
    return product
