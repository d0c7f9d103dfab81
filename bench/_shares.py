"""Where the variance of a seat's result comes from: components of variance from deals that were played again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shares:
    """Where the variance of a seat's result comes from, as parts of 1; they add up to it."""

    game: str
    seats: int
    of: str
    total: float
    """The variance."""
    bot: float
    """Who sits there."""
    deal: float
    """The cards of the seat, whoever plays them and against whom."""
    deal_error: float
    """Standard error of the deal's share."""
    bot_and_deal: float
    """What these cards are worth to this bot beyond both."""
    opponents: float
    """Who else sits at the table."""
    rest: float
    """How all of it works together, and the bots' own chance."""


def decompose(game: str, seats: int, of: str, bots: NDArray[np.int64], values: Sequence[Floats]) -> Shares:
    """The parts, from results [deals, seats] of four matches a deal: those of `bots`, by number, come first.

    Then with another bot in every seat, with others in all but seat 0, and with the same table on another deal. Two
    matches vary together by what they have in common: a mean product of results about their mean is its variance.
    """
    base, replaced, kept, other_deal = (each - np.mean([each.mean() for each in values]) for each in values)
    total = float((base**2).mean())
    bot = _between(bots, base)
    products = (base * replaced).mean(axis=1)
    deal = float(products.mean())
    both = float((base[:, 0] * kept[:, 0]).mean())
    table = float((base * other_deal).mean())
    return Shares(
        game=game,
        seats=seats,
        of=of,
        total=total,
        bot=bot / total,
        deal=deal / total,
        deal_error=float(products.std() / np.sqrt(len(products))) / total,
        bot_and_deal=(both - deal - bot) / total,
        opponents=(table - bot) / total,
        rest=(total - both - table + bot) / total,
    )


def _between(bots: NDArray[np.int64], values: Floats) -> float:
    """Variance of the bots' true means: that of their means in excess of what chance gives these."""
    groups = [values[bots == bot] for bot in np.unique(bots)]
    sizes = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    chance = sum(group.var(ddof=1) for group in groups if len(group) > 1) / len(values.ravel())
    return float((sizes * means**2).sum() / sizes.sum() - chance)
