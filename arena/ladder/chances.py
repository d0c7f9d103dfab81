"""What the errors leave open: between which ranks a node is, and how likely it is the best."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.fit import SPREAD, Floats

SURE: Final = 1.959963984540054
"""Standard errors of a two-sided interval of 95 %."""
FEW: Final = 3
"""Well-known nodes, below which they do not show the field's spread."""
LEAST: Final = 1.0
"""Elo²: no variance is taken as smaller."""
HALVINGS: Final = 60
POINTS: Final = 2048
REACH: Final = 6.0
"""Standard errors within which the best node's strength is looked for."""


def rank_bounds(ratings: Floats, differences: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst rank of each: those surely better come before it, those surely worse after it.

    `differences` [n, n] are the variances of the ratings' differences.
    """
    ahead = ratings[:, None] - ratings > SURE * np.sqrt(differences)
    return 1 + ahead.sum(axis=0), len(ratings) - ahead.sum(axis=1)


def chances_of_best(ratings: Floats, differences: Floats, known: NDArray[np.bool_]) -> Floats:
    """P(best) of each; they sum to 1.

    The errors are taken as independent ones with the variances that suit those of all `differences` best by least
    squares: what the errors have in common, such as the scale's own, moves nobody past another. Strengths are taken as
    normal with the spread that those `known` well show (Paule and Mandel 1982; with fewer than three, the prior's):
    without that the luckiest of many would be the best too often, and a newcomer likelier than anybody.
    The distribution of the best strength, F = Π Φ_j, is cut into slices, and each shared out by the hazards φ_i/Φ_i.
    """
    from scipy.special import log_ndtr

    size = len(ratings)
    if size < 2:
        return np.ones(size)
    whole = differences.sum() / (2 * (size - 1))
    own = (differences.sum(axis=1) - whole) / (size - 2) if size > 2 else np.full(2, whole / 2)
    own = np.maximum(own, LEAST)
    spread, middle = _field(ratings[known], own[known]) if known.sum() >= FEW else (SPREAD**2, float(ratings.mean()))
    centre = middle + spread / (spread + own) * (ratings - middle)
    error = np.sqrt(spread * own / (spread + own))
    edges = np.linspace((centre - REACH * error).max(), (centre + REACH * error).max(), POINTS + 1)
    slices = np.diff(np.exp(log_ndtr((edges[:, None] - centre) / error).sum(axis=1)))
    away = ((edges[1:] + edges[:-1])[:, None] / 2 - centre) / error
    hazards = -(away**2) / 2 - log_ndtr(away) - np.log(error)
    hazards = np.exp(hazards - hazards.max(axis=1, keepdims=True))
    found: Floats = (slices[:, None] * (hazards / hazards.sum(axis=1, keepdims=True))).sum(axis=0)
    found /= found.sum()
    return found


def _field(ratings: Floats, variances: Floats) -> tuple[float, float]:
    """The variance of the strengths, which makes the weighted squares as large as they should be, and their mean."""
    low, high = LEAST, LEAST + float(np.ptp(ratings)) ** 2
    for _ in range(HALVINGS):
        spread = (low + high) / 2
        weights = 1 / (variances + spread)
        middle = float((weights * ratings).sum() / weights.sum())
        if (weights * (ratings - middle) ** 2).sum() > len(ratings) - 1:
            low = spread
        else:
            high = spread
    return spread, middle
