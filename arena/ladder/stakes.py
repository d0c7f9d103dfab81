"""What one more match of a bot tells the ladder: its stake in being given a seat.

The variance of its rating that a match takes away counts where it can change ranks: it is weighted by how many other
bots lie within reach of its error. A new bot has by far the most to gain; that is all there is to a placement burst.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, Generic, NamedTuple, TypeVar

from arena.ladder.live import NEW, SCALE, Rating

KeyT = TypeVar("KeyT", bound=Hashable)

LEAST: Final = 1e-6
"""Elo that a rating errs by at least: where the ladder's scale hangs on one bot, that bot's has no error at all."""
BLOCK: Final = 1_000_000
"""Pairs of bots that are looked at together, which bounds memory."""


class Stake(NamedTuple):
    """How uncertain the rank of a bot is."""

    variance: float
    """v = SE²/c²: of its rating, in units of log odds."""
    weight: float
    """Σ_j exp(−d_ij²/2s_ij²)/s_ij over all other bots j, with d_ij the difference and s_ij² = SE_i² + SE_j², in Elo."""

    def expected(self, pending: int, seats: int) -> float:
        """1/(1/v + k·I_n): the variance after k = `pending` matches of n seats whose results v does not know yet.

        I_n = 3(n−1)/(4(n+1)) is what a match among equals tells.
        """
        return 1 / (1 / self.variance + pending * 0.75 * (seats - 1) / (seats + 1))

    def gain(self, pending: int, seats: int) -> float:
        """What one more match is worth, less the more are pending."""
        return self.weight * (self.expected(pending, seats) - self.expected(pending + 1, seats))


NEWCOMER: Final = Stake((NEW.deviation / SCALE) ** 2, 1.0)
"""A bot on a ladder of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Stakes(Generic[KeyT]):
    """The stakes of all bots of a ladder."""

    known: Mapping[KeyT, Stake] = field(default_factory=dict)
    newcomer: Stake = NEWCOMER
    """That of a bot that is not on the ladder yet."""

    def of(self, key: KeyT) -> Stake:
        """That of one bot."""
        return self.known.get(key, self.newcomer)


def stakes(ratings: Mapping[KeyT, Rating]) -> Stakes[KeyT]:
    """The stakes from the ratings of a ladder, in time of the square of their number: 0.1 s for 2,000 bots.

    ValueError: a rating is not finite, or its deviation negative.
    """
    import numpy as np

    for key, rating in ratings.items():
        if not isfinite(rating.value) or not 0 <= rating.deviation < float("inf"):
            raise ValueError(f"the rating of {key!r} is {rating.value} ± {rating.deviation}; it takes finite numbers")
    if not ratings:
        return Stakes()
    values = np.array([rating.value for rating in (*ratings.values(), NEW)])
    variances = np.array([max(LEAST, rating.deviation) ** 2 for rating in (*ratings.values(), NEW)])
    value, variance = values[:-1], variances[:-1]
    reach: list[float] = []
    rows = max(1, BLOCK // len(value))
    for at in range(0, len(values), rows):
        difference = values[at : at + rows, None] - value
        spread = variances[at : at + rows, None] + variance
        reach += (np.exp(-(difference**2) / (2 * spread)) / np.sqrt(spread)).sum(axis=1).tolist()
    itself = 1 / np.sqrt(2 * variance)
    known = {
        key: Stake(own_variance / SCALE**2, max(0.0, total - own))
        for key, own_variance, total, own in zip(ratings, variance.tolist(), reach, itself.tolist(), strict=False)
    }
    return Stakes(known, Stake(NEWCOMER.variance, reach[-1]))
