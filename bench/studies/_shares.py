"""Shares of bot, deal and opponents in the variance of a seat's result, estimated from deals played several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shares:
    """Variance components of a seat's result, as shares that sum to 1."""

    game: str
    seats: int
    of: str
    """Kind of result."""
    total: float
    """Total variance of a seat's result."""
    bot: float
    """Share of the bot in the seat."""
    deal: float
    """Share of the seat's cards, averaged over the bots that play with or against them."""
    deal_error: float
    """Standard error of the deal's share."""
    bot_and_deal: float
    """Share of the interaction of bot and deal."""
    opponents: float
    """Share of the other bots at the table."""
    rest: float
    """All other interactions, and the bots' randomness."""


def decompose(game: str, seats: int, of: str, bots: NDArray[np.int64], values: Sequence[Floats]) -> Shares:
    """Estimate the variance components from the results [deals, seats] of four matches per deal.

    `values` contains four arrays of results: of `bots` [deals, seats]; with a different bot in every seat; with
    different bots in all seats except seat 0; and of the same bots on a different deal. The covariance of two matches
    is the variance of the components that they share.
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
    """Estimate the variance of the bots' true means: the variance of the observed means minus the sampling variance."""
    groups = [values[bots == bot] for bot in np.unique(bots)]
    sizes = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    chance = sum(group.var(ddof=1) for group in groups if len(group) > 1) / len(values.ravel())
    return float((sizes * means**2).sum() / sizes.sum() - chance)
