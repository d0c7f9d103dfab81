"""Uncertainty of ranks: each node's rank interval, and the probability that it is the best."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.symmetric import Floats

Z_95: Final = 1.959963984540054
"""Half width of a two-sided interval of 95 %, in standard errors."""
SLICES: Final = 2048
TAIL_ERRORS: Final = 6.0
"""Range of integration about each node's strength, in standard errors."""


def rank_bounds(shown: Floats, ratings: Floats, differences: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute the best and the worst rank [n] of each node with 95 % confidence in every comparison.

    `differences` [n, n] are the variances of the differences of ratings. A node is surely ahead of another if the
    difference exceeds 1.96 of its errors and its shown rating is higher, too, so that its shown rank is in its
    interval.
    """
    ahead = (ratings[:, None] - ratings > Z_95 * np.sqrt(differences)) & (shown[:, None] > shown)
    return 1 + ahead.sum(axis=0), len(ratings) - ahead.sum(axis=1)


def chances_of_best(centre: Floats, error: Floats) -> Floats:
    """Compute the probability [n] that each node is the best, for independent normal strengths; they sum to 1.

    They must be posterior, shrunk towards the field: otherwise the luckiest of many nodes would be the best too often,
    a newcomer most of all. The distribution of the best strength, F = Π Φ_j, is cut into slices, each divided by the
    hazards φ_i/Φ_i.
    """
    from scipy.special import log_ndtr

    if len(centre) < 2:
        return np.ones(len(centre))
    edges = np.linspace((centre - TAIL_ERRORS * error).max(), (centre + TAIL_ERRORS * error).max(), SLICES + 1)
    slices = np.diff(np.exp(log_ndtr((edges[:, None] - centre) / error).sum(axis=1)))
    away = ((edges[1:] + edges[:-1])[:, None] / 2 - centre) / error
    hazards = -(away**2) / 2 - log_ndtr(away) - np.log(error)
    hazards = np.exp(hazards - hazards.max(axis=1, keepdims=True))
    found: Floats = (slices[:, None] * (hazards / hazards.sum(axis=1, keepdims=True))).sum(axis=0)
    found /= found.sum()
    return found
