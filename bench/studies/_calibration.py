"""Goodness of fit of the ladder's model: calibration, weight of a pair, and ranks after few games.

Results are arrays by match and seat. Bots are numbered from 0. Place 1 is the best, and ties share a place. Strengths
are ratings of the fitted ladder, converted to log odds. Intervals are bootstrapped over matches, because pairs of one
match are dependent.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from arena.ladder.events import Entrant, Node
from arena.ladder.fit import fit
from arena.ladder.pairs import Entrants, Pairs
from bench.ladder.arrays import columns_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BOOTSTRAPS: Final = 400
BINS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Edges of the bins, by the favourite's predicted probability of winning."""
DRAWS: Final = 20
"""Number of random samples over which the rank correlation is averaged."""


class Figure(NamedTuple):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


class Bin(NamedTuple):
    """A group of seat pairs whose favourites had about the same predicted probability of winning."""

    pairs: int
    predicted: float
    observed: float


class Results(NamedTuple):
    """Matches with the same number of seats. Arrays have the shape [matches, seats]."""

    nodes: Ints
    places: Ints

    def pick(self, rows: NDArray[np.generic]) -> Results:
        """Select some of the matches."""
        return Results(self.nodes[rows], self.places[rows])


class Duels(NamedTuple):
    """All pairs of seats of every match. Arrays have the shape [matches, pairs]."""

    one: Ints
    other: Ints
    score: Floats
    """Score of `one` against `other`: 1, ½ or 0."""


def duels(results: Results) -> Duels:
    """List the pairs of seats of all matches."""
    i, j = np.triu_indices(results.nodes.shape[1], 1)
    ahead = results.places[:, j] - results.places[:, i]
    return Duels(results.nodes[:, i], results.nodes[:, j], (1 + np.sign(ahead)) / 2)


def strengths(results: Results, bots: int) -> Floats:
    """Fit the strengths of all bots in log odds."""
    entrants = Entrants(Entrant(Node(bot)) for bot in range(bots))
    return fit(Pairs.of(columns_of(results.nodes, results.places), entrants)).strengths


def simulated(results: Results, theta: Floats, chance: np.random.Generator) -> Results:
    """Simulate the same tables under the exact model (Plackett–Luce, in which every pair is Bradley–Terry)."""
    performance = theta[results.nodes] + chance.gumbel(size=results.nodes.shape)
    return Results(results.nodes, (-performance).argsort(axis=1).argsort(axis=1) + 1)


def predictions(results: Results, bots: int) -> Floats:
    """Predict the log odds [matches, pairs] of each pair from a fit to the other half of the matches."""
    pairs = duels(results)
    odds = np.zeros(pairs.one.shape)
    for half in (0, 1):
        here = np.arange(len(results.nodes)) % 2 == half
        theta = strengths(results.pick(~here), bots)
        odds[here] = theta[pairs.one[here]] - theta[pairs.other[here]]
    return odds


def slope(odds: Floats, score: Floats) -> float:
    """Fit the calibration slope, a factor on the log odds: 1 if calibrated, less if predictions are overconfident."""
    factor = 1.0
    for _ in range(20):
        chance = 1 / (1 + np.exp(-factor * odds))
        factor += float((odds * (score - chance)).sum() / (odds**2 * chance * (1 - chance)).sum())
    return factor


def calibration(odds: Floats, score: Floats, chance: np.random.Generator) -> Figure:
    """Compute the calibration slope with its interval."""
    rows = chance.integers(len(odds), size=(BOOTSTRAPS, len(odds)))
    low, high = np.quantile([slope(odds[row], score[row]) for row in rows], (0.025, 0.975))
    return Figure(slope(odds, score), float(low), float(high))


def binned(odds: Floats, score: Floats) -> list[Bin]:
    """Compare predicted and observed scores of favourites, by bins of the prediction."""
    predicted = 1 / (1 + np.exp(-np.abs(odds)))
    observed = np.where(odds < 0, 1 - score, score)
    chosen = [(low <= predicted) & (predicted < high) for low, high in pairwise(BINS)]
    return [
        Bin(int(each.sum()), float(predicted[each].mean()), float(observed[each].mean()))
        for each in chosen
        if each.any()
    ]


def weight(results: Results, theta: Floats, chance: np.random.Generator | None = None) -> Figure:
    """Estimate the weight of a pair at which the likelihood's information equals the variance of its score.

    The weight is Σ E(1−E) ÷ Σ (Σ S−E)². The inner sum is over a seat's pairs, the outer ones are over seats and
    matches. Without `chance` the interval has no width.
    """
    own, place = theta[results.nodes], results.places
    expected = 1 / (1 + np.exp(own[:, None, :] - own[:, :, None]))
    score = (1 + np.sign(place[:, None, :] - place[:, :, None])) / 2
    # exclude the pair of a seat with itself
    information = (expected * (1 - expected)).sum(axis=(1, 2)) - own.shape[1] / 4
    square = ((score - expected).sum(axis=2) ** 2).sum(axis=1)
    value = float(information.sum() / square.sum())
    if chance is None:
        return Figure(value, value, value)
    rows = chance.integers(len(square), size=(BOOTSTRAPS, len(square)))
    low, high = np.quantile(information[rows].sum(axis=1) / square[rows].sum(axis=1), (0.025, 0.975))
    return Figure(value, float(low), float(high))


def correlation(results: Results, bots: int, games: int, chance: np.random.Generator) -> float:
    """Compute the mean rank correlation of two ladders: one from `games` games per bot, one from all other matches."""
    matches = round(games * bots / results.nodes.shape[1])
    found = []
    for _ in range(DRAWS):
        order = chance.permutation(len(results.nodes))
        few, rest = results.pick(order[:matches]), results.pick(order[matches:])
        found.append(float(spearmanr(strengths(few, bots), strengths(rest, bots)).statistic))
    return float(np.mean(found))
