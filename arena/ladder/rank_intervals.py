"""Uncertainty of ranks: each node's rank interval, and the probability that it is the best."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.fit import PRIOR_DEVIATION, Floats

Z_95: Final = 1.959963984540054
"""Half width of a two-sided interval of 95 %, in standard errors."""
MIN_KNOWN: Final = 3
"""Fewest well-known nodes from which the field's variance is estimated."""
MIN_VARIANCE: Final = 1.0
"""Elo², lower bound of all variances."""
BISECTIONS: Final = 60
SLICES: Final = 2048
TAIL_ERRORS: Final = 6.0
"""Range of integration about each node's strength, in standard errors."""


def rank_bounds(ratings: Floats, differences: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute the best and the worst rank [n] of each node with 95 % confidence in every comparison.

    `differences` [n, n] are the variances of the differences of ratings.
    """
    ahead = ratings[:, None] - ratings > Z_95 * np.sqrt(differences)
    return 1 + ahead.sum(axis=0), len(ratings) - ahead.sum(axis=1)


def chances_of_best(ratings: Floats, differences: Floats, known: NDArray[np.bool_]) -> Floats:
    """Compute the probability [n] that each node is the best; they sum to 1.

    Errors are modelled as independent, with the variances that fit all `differences` best by least squares: an error
    that all ratings share, such as the scale's, changes no rank. Strengths are shrunk by a normal distribution with the
    variance of the nodes that are `known` well (Paule and Mandel 1982; with fewer than three, the prior's). Without
    this the luckiest of many nodes would be the best too often, and a newcomer the likeliest of all.
    The distribution of the best strength, F = Π Φ_j, is cut into slices, each divided by the hazards φ_i/Φ_i.
    """
    from scipy.special import log_ndtr

    size = len(ratings)
    if size < 2:
        return np.ones(size)
    whole = differences.sum() / (2 * (size - 1))
    own = (differences.sum(axis=1) - whole) / (size - 2) if size > 2 else np.full(2, whole / 2)
    own = np.maximum(own, MIN_VARIANCE)
    spread, middle = (
        _field_distribution(ratings[known], own[known])
        if known.sum() >= MIN_KNOWN
        else (PRIOR_DEVIATION**2, float(ratings.mean()))
    )
    centre = middle + spread / (spread + own) * (ratings - middle)
    error = np.sqrt(spread * own / (spread + own))
    edges = np.linspace((centre - TAIL_ERRORS * error).max(), (centre + TAIL_ERRORS * error).max(), SLICES + 1)
    slices = np.diff(np.exp(log_ndtr((edges[:, None] - centre) / error).sum(axis=1)))
    away = ((edges[1:] + edges[:-1])[:, None] / 2 - centre) / error
    hazards = -(away**2) / 2 - log_ndtr(away) - np.log(error)
    hazards = np.exp(hazards - hazards.max(axis=1, keepdims=True))
    found: Floats = (slices[:, None] * (hazards / hazards.sum(axis=1, keepdims=True))).sum(axis=0)
    found /= found.sum()
    return found


def _field_distribution(ratings: Floats, variances: Floats) -> tuple[float, float]:
    """Estimate variance and mean of the strengths by Paule and Mandel: weighted squares must equal n − 1."""
    low, high = MIN_VARIANCE, MIN_VARIANCE + float(np.ptp(ratings)) ** 2
    for _ in range(BISECTIONS):
        spread = (low + high) / 2
        weights = 1 / (variances + spread)
        middle = float((weights * ratings).sum() / weights.sum())
        if (weights * (ratings - middle) ** 2).sum() > len(ratings) - 1:
            low = spread
        else:
            high = spread
    return spread, middle
