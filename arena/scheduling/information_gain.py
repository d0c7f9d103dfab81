"""Information gain: how much one more match of a bot would improve the ladder.

The gain is the reduction of the variance of the bot's rating, weighted by the number of bots that are so close that its
rank is uncertain. New bots have by far the largest gain, so placement matches need no rule of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, Generic, NamedTuple, TypeVar

from arena.ladder.live import NEW, SCALE, Rating

KeyT = TypeVar("KeyT", bound=Hashable)

MIN_ERROR: Final = 1e-6
"""Lower bound of standard errors in Elo, needed because a ladder's only anchor has none."""
BLOCK_PAIRS: Final = 1_000_000
"""Number of pairs of bots computed at a time, to limit the use of memory."""
MOST_COMPARED: Final = 2_000
"""Maximum number of bots with which a bot is compared. If there are more, a sample evenly spaced by rating is used."""


class MatchValue(NamedTuple):
    """Uncertainty of a bot's rating and rank, from which the gain of a match is computed."""

    variance: float
    """v = SE²/c²: variance of the bot's rating in squared log odds."""
    weight: float
    """Σ_j exp(−d_ij²/2s_ij²)/s_ij over all other bots j, with d_ij the difference and s_ij² = SE_i² + SE_j², in Elo."""

    def expected(self, pending: int, seats: int) -> float:
        """Predict the variance after k = `pending` more matches of n seats: 1/(1/v + k·I_n).

        I_n = 3(n−1)/(4(n+1)) is the information of a match among equals.
        """
        return 1 / (1 / self.variance + pending * 0.75 * (seats - 1) / (seats + 1))

    def gain(self, pending: int, seats: int) -> float:
        """Compute the weighted reduction of variance by one more match of n seats. It shrinks with pending matches."""
        return self.weight * (self.expected(pending, seats) - self.expected(pending + 1, seats))


NEWCOMER: Final = MatchValue((NEW.deviation / SCALE) ** 2, 1.0)
"""Value of a match of a new bot on a ladder without ratings."""


@dataclass(frozen=True, slots=True)
class MatchValues(Generic[KeyT]):
    """Match values of all bots of a ladder."""

    known: Mapping[KeyT, MatchValue] = field(default_factory=dict)
    newcomer: MatchValue = NEWCOMER
    """Value for a bot that is not yet on the ladder."""

    def of(self, key: KeyT) -> MatchValue:
        """Return the value of one bot, or the newcomer's if it has no rating."""
        return self.known.get(key, self.newcomer)


def match_values(ratings: Mapping[KeyT, Rating]) -> MatchValues[KeyT]:
    """Compute the match values of all bots from their ratings.

    This takes 0.05 s for 2,000 bots, and beyond that grows linearly with their number.

    Raises ValueError for a rating that is not finite or whose deviation is negative.
    """
    import numpy as np

    for key, rating in ratings.items():
        if not isfinite(rating.value) or not 0 <= rating.deviation < float("inf"):
            raise ValueError(f"the rating of {key!r} is {rating.value} ± {rating.deviation}; it takes finite numbers")
    if not ratings:
        return MatchValues()
    values = np.array([rating.value for rating in (*ratings.values(), NEW)])
    variances = np.array([max(MIN_ERROR, rating.deviation) ** 2 for rating in (*ratings.values(), NEW)])
    compared = np.argsort(values[:-1], kind="stable")
    if len(ratings) > MOST_COMPARED:
        compared = compared[np.linspace(0, len(ratings) - 1, MOST_COMPARED).round().astype(int)]
    value, variance, stands_for = values[compared], variances[compared], len(ratings) / len(compared)
    weights: list[float] = []
    rows = max(1, BLOCK_PAIRS // len(value))
    for at in range(0, len(values), rows):
        difference = values[at : at + rows, None] - value
        spread = variances[at : at + rows, None] + variance
        weights += (np.exp(-(difference**2) / (2 * spread)) / np.sqrt(spread)).sum(axis=1).tolist()
    own_terms = np.zeros(len(ratings))
    own_terms[compared] = 1 / np.sqrt(2 * variance)
    known = {
        key: MatchValue(own_variance / SCALE**2, stands_for * max(0.0, total - own))
        for key, own_variance, total, own in zip(ratings, variances.tolist(), weights, own_terms.tolist(), strict=False)
    }
    return MatchValues(known, MatchValue(NEWCOMER.variance, stands_for * weights[-1]))
