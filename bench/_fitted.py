"""What the truth layer makes of real results: whether its model fits, and how many games its answers take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.ladder import SETTLED, Ladder
from arena.ladder.live import NEW, SCALE
from arena.ladder.truth import ladder
from bench._calibration import (
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
"""Games a bot, of which a ladder is made and compared with that of the other matches."""
WORLDS: Final = 20
"""Simulated worlds in which the model is exact."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the ladder makes of one kind of table."""

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
    """Elo, standard deviation of the bots' ratings."""
    spread_without_random: float
    games_settled: tuple[float, float]
    """Games until a bot's standard error is at most `SETTLED`: median and most."""
    games_neighbours: tuple[float, float]
    """Games a bot until neighbours on the ladder differ by 1.96 standard errors: median and third quartile."""
    correlation: dict[int, float]
    """By games a bot."""
    ratings: dict[str, tuple[float, float]]
    """By bot, rating and standard error."""
    scales: dict[str, tuple[float, float, float]]
    """By who is anchor, of all bots but the random one: mean rating, distance from 1500 (root of the mean square), and
    median standard error."""


def fitted(game: str, results: Results, names: Sequence[str]) -> Fitted:
    """What the ladder makes of them, of bots by number with these names, the house's first and of these the random one.

    Five games a bot at least, so that half of them can be predicted from the other.
    """
    chance = np.random.default_rng(6)
    bots = len(names)
    matches, seats = results.nodes.shape
    theta = strengths(results, bots)
    odds, pairs = predictions(results, bots), duels(results)
    worlds = [simulated(results, theta, chance) for _ in range(WORLDS)]
    anchored = {
        "all house bots": ladder_of(results, bots, (0, 1, 2)),
        "careful and counter": ladder_of(results, bots, (1, 2)),
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
    """The truth layer's ladder with these anchors."""
    entrants = [Entrant(Node(bot), anchor=bot in anchors) for bot in range(bots)]
    return ladder(entrants, Columns.of_arrays(results.nodes, results.places))


def scale(full: Ladder) -> tuple[float, float, float]:
    """Mean rating, distance from 1500 and median error of all bots but the random one."""
    lines = [line for line in full.lines if line.node != 0]
    ratings = np.array([line.rating for line in lines])
    distance = np.sqrt(((ratings - NEW.value) ** 2).mean())
    return float(ratings.mean()), float(distance), float(np.median([line.error for line in lines]))


def settled(full: Ladder) -> tuple[float, float]:
    """Games until a bot's error is small enough, its error falling with the root of its games: median and most."""
    needed = [line.matches * (line.error / SETTLED) ** 2 for line in full.lines]
    return float(np.median(needed)), max(needed)


def neighbours(full: Ladder) -> tuple[float, float]:
    """Games until neighbours are told apart: median and third quartile."""
    needed = [
        better.matches * (1.96**2) * (better.error**2 + worse.error**2) / max(better.rating - worse.rating, 1e-9) ** 2
        for better, worse in pairwise(full.lines)
    ]
    return float(np.median(needed)), float(np.quantile(needed, 0.75))
