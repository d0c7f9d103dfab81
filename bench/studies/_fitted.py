"""Analysis of the fitted ladder on real results: goodness of fit, and games needed for reliable answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.ladder import ESTABLISHED_MAX_ERROR, Ladder
from arena.ladder.live import NEW, SCALE
from bench.ladder.arrays import columns_of
from bench.studies._calibration import (
    Bin,
    Figure,
    Results,
    binned,
    calibration,
    correlation,
    duels,
    predictions,
    simulated,
    slope,
    strengths,
    weight,
)

GAMES: Final = (10, 20, 40, 80)
"""Numbers of games per bot after which a ladder is compared with the ladder of all other matches."""
WORLDS: Final = 20
"""Number of simulated worlds in which the model is exact."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Analysis of the ladder for one game and table size. The fields `…_if_exact` are means over simulated worlds."""

    game: str
    seats: int
    matches: int
    slope: Figure
    slope_if_exact: float
    bins: list[Bin]
    weight: Figure
    weight_if_exact: float
    weight_used: float
    spread: float
    """Standard deviation of the bots' ratings in Elo."""
    spread_without_random: float
    games_settled: tuple[float, float]
    """Games until a bot's standard error is at most `ESTABLISHED_MAX_ERROR`: median and maximum."""
    games_neighbours: tuple[float, float]
    """Games per bot until neighbours on the ladder differ by 1.96 standard errors: median and third quartile."""
    correlation: dict[int, float]
    """Mean rank correlation by games per bot."""
    ratings: dict[str, tuple[float, float]]
    """Rating and standard error by bot."""
    scales: dict[str, tuple[float, float, float]]
    """Figures of the scale by choice of anchors, over all bots except the random bot.

    The figures are the mean rating, the root mean square distance from 1500, and the median standard error.
    """


def fitted(game: str, results: Results, names: Sequence[str], house: int) -> Fitted:
    """Analyse the ladder of results between bots. `names` are the bots' names by number.

    The first `house` bots are house bots, and number 0 is the random bot. There must be at least five games per bot,
    because each half of the matches is predicted from the other half.
    """
    chance = np.random.default_rng(6)
    bots = len(names)
    matches, seats = results.nodes.shape
    theta = strengths(results, bots)
    odds, pairs = predictions(results, bots), duels(results)
    worlds = [simulated(results, theta, chance) for _ in range(WORLDS)]
    anchored = {
        "all house bots": ladder_of(results, bots, range(house)),
        "those that think": ladder_of(results, bots, range(1, house)),
    }
    full = anchored["all house bots"]
    games = matches * seats / bots
    return Fitted(
        game=game,
        seats=seats,
        matches=matches,
        slope=calibration(odds, pairs.score, chance),
        slope_if_exact=float(np.mean([slope(predictions(each, bots), duels(each).score) for each in worlds])),
        bins=binned(odds, pairs.score),
        weight=weight(results, theta, chance),
        weight_if_exact=float(np.mean([weight(each, strengths(each, bots)).value for each in worlds])),
        weight_used=3 / (seats + 1),
        spread=float(SCALE * theta.std(ddof=1)),
        spread_without_random=float(SCALE * theta[1:].std(ddof=1)),
        games_settled=settled(full),
        games_neighbours=neighbours(full),
        correlation={each: correlation(results, bots, each, chance) for each in GAMES if each <= games / 2},
        ratings={names[line.node]: (line.rating, line.error) for line in full.lines},
        scales={anchors: scale(each) for anchors, each in anchored.items()},
    )


def ladder_of(results: Results, bots: int, anchors: Sequence[int]) -> Ladder:
    """Fit the ladder with the given anchors."""
    entrants = [Entrant(Node(bot), anchor=bot in anchors) for bot in range(bots)]
    return ladder(entrants, columns_of(results.nodes, results.places))


def scale(full: Ladder) -> tuple[float, float, float]:
    """Compute mean rating, distance from 1500 and median standard error over all bots except the random bot."""
    lines = [line for line in full.lines if line.node != 0]
    ratings = np.array([line.rating for line in lines])
    distance = np.sqrt(((ratings - NEW.value) ** 2).mean())
    return float(ratings.mean()), float(distance), float(np.median([line.error for line in lines]))


def settled(full: Ladder) -> tuple[float, float]:
    """Estimate the games until a bot is no longer provisional: median and maximum.

    Errors are assumed to fall with the square root of the number of games.
    """
    needed = [line.matches * (line.error / ESTABLISHED_MAX_ERROR) ** 2 for line in full.lines]
    return float(np.median(needed)), max(needed)


def neighbours(full: Ladder) -> tuple[float, float]:
    """Estimate the games until neighbours differ significantly: median and third quartile."""
    needed = [
        better.matches * (1.96**2) * (better.error**2 + worse.error**2) / max(better.rating - worse.rating, 1e-9) ** 2
        for better, worse in pairwise(full.lines)
    ]
    return float(np.median(needed)), float(np.quantile(needed, 0.75))
