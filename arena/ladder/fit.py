"""The Bradley–Terry fit: the strengths under which every node's score is what its results make likeliest.

Strengths θ are in log odds. Node i's equation is Σ_j W_ij·E_ji − (N_ij − W_ij)·E_ij = (Pθ)_i, with W, N its own row of
the pair counts; where everything counts that is the maximum of the posterior. The prior precision P: a bot's first
version is N(0, 250 Elo) — 0 being wherever the field's middle is, as the scale is fixed only afterwards. A later
version is N(its parent, 60 Elo) jointly with it, until 100 matches count for it; that is a prior at the parent's rating
with variance SE² + 60², and the two learn from each other. With 100 matches it stands on its own as a first version.
Nothing here uses BLAS or chance: the same bits come out whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.ladder.errors import NotConverged
from arena.ladder.live import SCALE, STEP
from arena.ladder.pairs import UNIT, Pairs

Floats: TypeAlias = NDArray[np.float64]

SPREAD: Final = 250.0
"""Elo, of bots about the field's middle, before any match."""
GROWN: Final = 100
"""Matches after which a version no longer leans on its parent."""
STEPS: Final = 30
CONVERGED: Final = 1e-12
"""The largest change, in log odds, that the last step may have made."""


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
        half = np.einsum("ij,jk->ik", self.bread, scores)
        both = np.einsum("ij,kj->ik", half, self.bread)
        symmetric: Floats = (both + both.T) / 2
        return symmetric


def fit(pairs: Pairs, parents: Sequence[int | None]) -> Fit:
    """The fit, every position's parent given as a position. NotConverged when Newton's method does not come to rest."""
    won = pairs.won / UNIT
    lost = (pairs.played - pairs.won) / UNIT
    played = pairs.played / UNIT
    prior = _precision(parents, pairs.matches)
    strengths = np.zeros(len(parents))
    score = _score(strengths, won, lost, prior)
    for _ in range(STEPS):
        slope = _slope(strengths, played) + prior
        step = _product(inverse(slope), score)
        largest = float(np.abs(step).max(initial=0.0))
        share = 1.0
        error = np.abs(score).max(initial=0.0)
        while True:
            tried = strengths + share * step
            score = _score(tried, won, lost, prior)
            if largest < 0.1 or share < 0.01 or np.abs(score).max() < error:
                break
            share /= 2  # a full step may overshoot where E bends
        strengths = tried
        if largest <= CONVERGED:
            break
    else:
        raise NotConverged(STEPS, largest)
    both = np.minimum(played, played.T)
    return Fit(
        strengths,
        expected(strengths),
        inverse(_slope(strengths, played) + prior),
        _slope(strengths, both) + np.diag(((played - both) * _variance(strengths)).sum(axis=1)) + prior,
        prior,
    )


def expected(strengths: Floats) -> Floats:
    """E_ij = 1/(1+exp(θ_j−θ_i)), [n, n]; small ones have as many right digits as large ones."""
    chance: Floats = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return chance


def inverse(matrix: Floats) -> Floats:
    """Of a matrix whose diagonal dominates (Gauss and Jordan, no pivots needed), always by the same operations."""
    work = matrix.copy()
    for k in range(len(work)):
        row = work[k] / work[k, k]
        row[k] = 1 / work[k, k]
        column = work[:, k].copy()
        work[:, k] = 0
        work -= column[:, None] * row
        work[k] = row
    return work


def _precision(parents: Sequence[int | None], matches: NDArray[np.int64]) -> Floats:
    prior = np.zeros((len(parents), len(parents)))
    for node, parent in enumerate(parents):
        if parent is None or matches[node] >= GROWN:
            prior[node, node] += (SCALE / SPREAD) ** 2
        else:
            tie = (SCALE / STEP) ** 2
            prior[node, node] += tie
            prior[parent, parent] += tie
            prior[node, parent] -= tie
            prior[parent, node] -= tie
    return prior


def _score(strengths: Floats, won: Floats, lost: Floats, prior: Floats) -> Floats:
    """Each equation's left side less its right; the two sums apart, as their difference would lose small E's digits."""
    chance = expected(strengths)
    left: Floats = (won * chance.T - lost * chance).sum(axis=1)
    return left - _product(prior, strengths)


def _slope(strengths: Floats, weights: Floats) -> Floats:
    """What the scores lose with the strengths, the prior's part left out."""
    weighted = weights * _variance(strengths)
    slope: Floats = np.diag(weighted.sum(axis=1)) - weighted
    return slope


def _variance(strengths: Floats) -> Floats:
    chance = expected(strengths)
    variance: Floats = chance * chance.T
    return variance


def _product(matrix: Floats, vector: Floats) -> Floats:
    product: Floats = (matrix * vector).sum(axis=1)
    return product
