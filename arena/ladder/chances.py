"""What the errors leave open: between which ranks a node is, and how likely it is the best."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.fit import Floats

SURE: Final = 1.959963984540054
"""Standard errors of a two-sided interval of 95 %."""
POINTS: Final = 2048
REACH: Final = 6.0
"""Standard errors within which the best node's strength is looked for."""


def rank_bounds(ratings: Floats, differences: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst rank of each: those surely better come before it, those surely worse after it.

    `differences` [n, n] are the variances of the ratings' differences.
    """
    ahead = ratings[:, None] - ratings > SURE * np.sqrt(differences)
    return 1 + ahead.sum(axis=0), len(ratings) - ahead.sum(axis=1)


def chances_of_best(ratings: Floats, differences: Floats) -> Floats:
    """P(best) of each; they sum to 1.

    The errors are taken as independent ones with the variances that suit those of all `differences` best by least
    squares: what the errors have in common, such as the scale's own, moves nobody past another. The distribution of the
    best strength, F = Π Φ_j, is then cut into slices, and each slice shared out by the hazards φ_i/Φ_i.
    """
    from scipy.special import log_ndtr

    size = len(ratings)
    if size < 2:
        return np.ones(size)
    whole = differences.sum() / (2 * (size - 1))
    own = (differences.sum(axis=1) - whole) / (size - 2) if size > 2 else np.full(2, whole / 2)
    errors = np.sqrt(np.maximum(own, differences.max() * 1e-6))
    edges = np.linspace((ratings - REACH * errors).max(), (ratings + REACH * errors).max(), POINTS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    slices = np.diff(np.exp(log_ndtr((edges[:, None] - ratings) / errors).sum(axis=1)))
    away = (centres[:, None] - ratings) / errors
    hazards = -(away**2) / 2 - log_ndtr(away) - np.log(errors)
    hazards = np.exp(hazards - hazards.max(axis=1, keepdims=True))
    shares = hazards / hazards.sum(axis=1, keepdims=True)
    found: Floats = (slices[:, None] * shares).sum(axis=0)
    found /= found.sum()
    return found
