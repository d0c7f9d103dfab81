"""The Bradley–Terry fit: maximum a posteriori strengths θ in log odds, by Newton's method.

Prior: a bot's first version is N(0, 250 Elo); 0 is the field's centre, as the scale is fixed only afterwards. A later
version is N(its parent, 60 Elo), jointly with the parent: a prior at the parent's rating with variance SE² + 60², from
which both learn. This tie weakens by 1/100 with each match of the version, so that no match makes ratings jump; from
100 matches on the version has the prior of a first version. Pairs that count for one side only are added in a second
step, which moves that side and keeps all other strengths fixed: nobody else gains or loses by them.
Nothing here uses BLAS or randomness: the result is the same to the last bit whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.columns import Ints
from arena.ladder.errors import NotConverged
from arena.ladder.live import SCALE, VERSION_DEVIATION
from arena.ladder.pairs import UNIT, Pairs

Floats: TypeAlias = NDArray[np.float64]

PRIOR_DEVIATION: Final = 250.0
"""Elo, prior standard deviation of bots about the field's centre."""
INDEPENDENT_AFTER: Final = 100
"""Matches after which a version's prior no longer depends on its parent."""
MAX_STEPS: Final = 100
"""Newton steps before NotConverged. A common ladder takes ten; one in which many bots never lose, up to forty."""
TOLERANCE: Final = 1e-12
"""Converged when the largest change of a step, in log odds, is at most this."""
STALL_TOLERANCE: Final = 1e-5
"""Converged also when steps below this no longer halve: rounding limits them in fits of a billion matches."""
MAX_STEP: Final = 4.0
"""Largest change of a strength in one step, in log odds: far from the solution the slope is a poor guide."""
MIN_STEP_SHARE: Final = 1e-4
"""Smallest fraction of a Newton step tried in the line search."""
WHOLE_INVERSE_ROWS: Final = 64
"""Largest matrix inverted by Gauss–Jordan; larger ones are split into blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Solution of the fit, by position of the entrants."""

    strengths: Floats
    """[n], log odds."""
    expectations: Floats
    """[n, n], E_ij, the expected score of i against j."""
    bread: Floats
    """[n, n], the inverse of the equations' Jacobian: the "bread" of the sandwich estimator."""
    information: Floats
    """[n, n], the scores' covariance according to the model, that of the prior included."""
    prior: Floats
    """[n, n], the prior's precision matrix."""

    def covariance(self, scores: Floats) -> Floats:
        """Compute the sandwich covariance [n, n] of the strengths from that of the scores [n, n]."""
        both = _multiplied(_multiplied(self.bread, scores), self.bread.T)
        symmetric: Floats = (both + both.T) / 2
        return symmetric


def fit(pairs: Pairs, parents: Sequence[int | None]) -> Fit:
    """Fit the strengths of all positions; `parents` gives each version's parent as a position, or None.

    Raises NotConverged when Newton's method does not converge within `MAX_STEPS`.
    """
    prior = _precision(parents, pairs.matches)
    played, won = pairs.played / UNIT, pairs.won / UNIT
    alone, won_alone = pairs.played_alone / UNIT, pairs.won_alone / UNIT
    strengths = _root(
        lambda tried: _score(won, played, tried, tried) - _product(prior, tried),
        lambda tried: _slope(tried, played) + prior,
        np.zeros(len(parents)),
    )
    moved = _connected(np.any(pairs.played_alone, axis=1), prior)
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
    """Find the zero of the score by Newton's method with a line search."""
    here, error = start, score(start)
    before = np.inf
    for _ in range(MAX_STEPS):
        step = _product(inverse(slope(here)), error)
        largest = float(np.abs(step).max(initial=0.0))
        if largest <= TOLERANCE or before / 2 < largest < STALL_TOLERANCE:
            return here
        share = min(1.0, MAX_STEP / largest)
        while True:
            tried = here + share * step
            missed = score(tried)
            if largest < STALL_TOLERANCE or share < MIN_STEP_SHARE or np.abs(missed).max() < np.abs(error).max():
                break
            share /= 2
        here, error, before = tried, missed, largest
    raise NotConverged(MAX_STEPS, largest)


def _connected(nodes: NDArray[np.bool_], prior: Floats) -> NDArray[np.bool_]:
    """Extend a set of nodes by all that their priors connect them with, directly or not."""
    while True:
        wider = nodes | (prior[:, nodes] != 0).any(axis=1)
        if (wider == nodes).all():
            return nodes
        nodes = wider


def expected(strengths: Floats, others: Floats) -> Floats:
    """Compute E_ij = 1/(1+exp(θ_j−θ_i)) [n, m] for each strength against each of the others.

    Small values are as precise, relatively, as large ones; none is below about 10⁻³⁰⁴, where exp would overflow.
    """
    chance: Floats = 1 / (1 + np.exp(np.minimum(others - strengths[:, None], 700.0)))
    return chance


def inverse(matrix: Floats) -> Floats:
    """Invert a diagonally dominant matrix, which needs no pivoting, by the same operations on every machine.

    Blockwise: with a = A⁻¹ and S = D − CaB, the inverse of (A B; C D) is (a + aB·S⁻¹·Ca, −aB·S⁻¹; −S⁻¹·Ca, S⁻¹). Small
    matrices by Gauss–Jordan elimination.
    """
    size = len(matrix)
    if size > WHOLE_INVERSE_ROWS:
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
        leaning = 0.0 if parent is None else max(0.0, 1 - int(matches[node]) / INDEPENDENT_AFTER)
        prior[node, node] += (1 - leaning) * (SCALE / PRIOR_DEVIATION) ** 2
        if parent is not None:
            tie = leaning * (SCALE / VERSION_DEVIATION) ** 2
            prior[node, node] += tie
            prior[parent, parent] += tie
            prior[node, parent] -= tie
            prior[parent, node] -= tie
    return prior


def _score(won: Floats, played: Floats, strengths: Floats, others: Floats) -> Floats:
    """Compute each node's score, the gradient [n] of the log likelihood.

    Wins and losses are weighted separately: won − played·E would cancel the digits of a small E.
    """
    score: Floats = (won * expected(others, strengths).T - (played - won) * expected(strengths, others)).sum(axis=1)
    return score


def _slope(strengths: Floats, weights: Floats) -> Floats:
    """Compute the negative derivative [n, n] of the scores by the strengths, without the prior's part."""
    weighted = weights * _variance(strengths, strengths)
    slope: Floats = np.diag(weighted.sum(axis=1)) - weighted
    return slope


def _variance(strengths: Floats, others: Floats) -> Floats:
    variance: Floats = expected(strengths, others) * expected(others, strengths).T
    return variance


def _product(matrix: Floats, vector: Floats) -> Floats:
    product: Floats = (matrix * vector).sum(axis=1)
    return product
