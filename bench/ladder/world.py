"""Simulated worlds of bots with known strengths and their matches, all drawn from one seed.

A bot's performance in a match is its strength plus luck of standard deviation 1; a table is ranked by performance.
Strengths have a standard deviation of 0.2: the best of 40 beats the median bot in about 62 % of matches. Ties arise
from rounding performances to a grid with a random offset for every match. In a changing field, bots are replaced by
others or by new versions. In a cyclic field, a bot's performance depends on its opponents, as in rock, paper, scissors.

True ratings are those of a Bradley–Terry ladder after infinitely many repetitions of the same tables: for each bot, the
sum of the expected scores over all its pairs equals the true sum. With nearly logistic luck they are the strengths in
another unit; with a cycle, they are the best description by one number per bot.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from arena.ladder.events import Entrant, Node
from arena.ladder.live import NEW, SCALE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BOTS: Final = 40
SPREAD: Final = 0.2
"""Standard deviation of the strengths."""
ANCHORS: Final = 3
"""Number of anchors: the first nodes, which are never replaced."""
STEP: Final = 0.1
"""Standard deviation of the difference between a version and its parent."""
CHANGE_RATE: Final = 0.005
"""Fraction of a changing field's bots that is replaced after each round."""
SEATS: Final = 7
"""Number of columns per match, as in the ladder's arrays. Columns beyond the last seat contain `NOBODY`."""
NOBODY: Final = -1
COPIED: Final = 0.4
"""Strength of the copied program: two standard deviations above the mean."""


class Luck(Enum):
    """Distribution of luck, with mean 0 and standard deviation 1."""

    NORMAL = "normal"
    SKEWED = "skewed"
    """A shifted exponential distribution."""
    HEAVY = "heavy-tailed"
    """A mixture of 90 % from a narrow and 10 % from a wide normal distribution: kurtosis 10."""


WIDE_SHARE: Final = 0.1
WIDE: Final = 2.4
NARROW: Final = float(np.sqrt((1 - WIDE_SHARE * WIDE**2) / (1 - WIDE_SHARE)))


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions under which a field plays."""

    seats: tuple[int, ...] = (4,)
    """Table sizes. One of them is drawn for each round."""
    ties: float = 0.0
    """Approximate share of pairs that tie."""
    changing: bool = False
    """True if bots are replaced during the season."""
    luck: Luck = Luck.NORMAL
    cycle: float = 0.0
    """Amplitude of the performance that a bot gains against one opponent and loses against another."""
    copies: int = 0
    """Number of copies of one program of strength `COPIED`: the last bots, in a field that does not change."""


@dataclass(frozen=True, slots=True)
class Season:
    """M matches in the order of play, with the bots' true strengths."""

    conditions: Conditions
    entrants: tuple[Entrant, ...]
    """Entrants by node: node n is entrant n."""
    strengths: Floats
    """True strengths by node."""
    nodes: Ints
    """Node in each seat [M, 7]. Columns beyond the last seat contain `NOBODY`."""
    places: Ints
    """Place of each seat [M, 7]. 1 is the best, ties share a place, and columns beyond the last seat contain 0."""
    means: Floats
    """Performance of each seat without luck [M, 7]. Columns beyond the last seat contain NaN."""


def play(conditions: Conditions, rounds: int, chance: np.random.Generator, bots: int = BOTS) -> Season:
    """Simulate a season in which every bot plays one match per round, with random opponents.

    If the table size does not divide the number of bots, random bots pause.
    """
    seated, entrants, strengths = _field(conditions, rounds, bots, chance)
    angles = chance.uniform(0, 2 * np.pi, len(strengths))
    seats = chance.choice(conditions.seats, rounds)
    found, when = [], []
    for number in sorted(set(conditions.seats)):
        those = np.flatnonzero(seats == number)
        tables = bots // number
        order = chance.random((len(those), bots)).argsort(axis=1)[:, : tables * number]
        nodes = np.full((len(those) * tables, SEATS), NOBODY)
        nodes[:, :number] = np.take_along_axis(seated[those], order, axis=1).reshape(-1, number)
        found.append(nodes)
        when.append(np.repeat(those, tables))
    nodes = np.concatenate(found)[np.concatenate(when).argsort(kind="stable")]
    means = _means(nodes, strengths, angles, conditions.cycle)
    return Season(conditions, entrants, strengths, nodes, ranked(means, conditions, chance), means)


def _field(
    conditions: Conditions, rounds: int, bots: int, chance: np.random.Generator
) -> tuple[Ints, tuple[Entrant, ...], Floats]:
    """Draw the bots of each round [rounds, bots], the entrants and their strengths.

    In a changing field, bots other than anchors are sometimes replaced by a new version or by another bot.
    """
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(bots)]
    strengths = [*chance.normal(0, SPREAD, bots - conditions.copies), *[COPIED] * conditions.copies]
    seated = np.tile(np.arange(bots), (rounds, 1))
    if conditions.changing:
        for seat in range(ANCHORS, bots):
            for at in np.flatnonzero(chance.random(rounds) < CHANGE_RATE):
                before = int(seated[at, seat])
                version = chance.random() < 0.5
                node = Node(len(entrants))
                entrants[before] = entrants[before]._replace(newest=not version)
                entrants.append(Entrant(node, parent=Node(before) if version else None))
                strengths.append(strengths[before] + chance.normal(0, STEP) if version else chance.normal(0, SPREAD))
                seated[at:, seat] = node
    return seated, tuple(entrants), np.array(strengths)


def _means(nodes: Ints, strengths: Floats, angles: Floats, cycle: float) -> Floats:
    """Compute the performance without luck of every seat of every match."""
    nobody = nodes == NOBODY
    means = np.where(nobody, np.nan, strengths[nodes])
    if cycle:
        sines, cosines = (np.where(nobody, 0, part(angles)[nodes]) for part in (np.sin, np.cos))
        edge = sines * cosines.sum(axis=1, keepdims=True) - cosines * sines.sum(axis=1, keepdims=True)
        means += cycle * edge / ((~nobody).sum(axis=1, keepdims=True) - 1)
    return means


def ranked(means: Floats, conditions: Conditions, chance: np.random.Generator) -> Ints:
    """Draw the luck of each match and rank the seats. Return places [M, 7]."""
    match conditions.luck:
        case Luck.NORMAL:
            luck = chance.standard_normal(means.shape)
        case Luck.SKEWED:
            luck = chance.exponential(size=means.shape) - 1
        case Luck.HEAVY:
            luck = chance.standard_normal(means.shape) * np.where(chance.random(means.shape) < WIDE_SHARE, WIDE, NARROW)
    performances = means + luck
    if conditions.ties:
        grid = grid_of(conditions.ties)
        performances = np.floor(performances / grid + chance.random((len(means), 1)))
    places = np.where(np.isnan(means), 0, 1)
    for seat in range(SEATS):
        places += performances[:, seat, None] > performances
    return places


@cache
def grid_of(ties: float) -> float:
    """Compute the grid width at which the given share of a field's pairs tie."""
    size = np.sqrt(2 + 2 * SPREAD**2)
    differences = size * np.linspace(0, 6, 20_001)
    density = np.exp(-((differences / size) ** 2) / 2)

    def surplus(grid: float) -> float:
        return float((density * np.clip(1 - differences / grid, 0, 1)).sum() / density.sum()) - ties

    return float(brentq(surplus, 1e-3, 5))


def expected_score(differences: Floats, conditions: Conditions) -> Floats:
    """Compute the expected score E[S] of each seat. `differences` are its mean performance minus each opponent's.

    On a grid of width g, two performances that differ by X tie with probability max(0, 1−|X|/g). So the mean of S is
    0.5 + 0.5·clip(X/g, −1, 1). E[S] is the integral of this mean over the distribution of X.
    """
    if not conditions.ties:
        return _below(differences, conditions.luck)
    points, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros_like(differences)
    for at, weight in zip(grid_of(conditions.ties) * (points + 1) / 2, weights / 2, strict=True):
        total += weight * (_below(differences - at, conditions.luck) - _below(-differences - at, conditions.luck))
    return (1 + total) / 2


def _below(value: Floats, luck: Luck) -> Floats:
    """Compute the probability that the difference of two independent draws of luck is below a value."""
    match luck:
        case Luck.NORMAL:
            return np.asarray(ndtr(value / np.sqrt(2)))
        case Luck.SKEWED:
            tail = np.exp(-np.abs(value)) / 2
            return np.where(value < 0, tail, 1 - tail)
        case Luck.HEAVY:
            kinds = {NARROW: 1 - WIDE_SHARE, WIDE: WIDE_SHARE}
            return sum(
                (p * q * np.asarray(ndtr(value / np.hypot(a, b))) for a, p in kinds.items() for b, q in kinds.items()),
                start=np.zeros_like(value),
            )


def truth(season: Season) -> Floats:
    """Compute the true ratings in Elo by node, with the anchors' mean at 1500. They are NaN for nodes that never
    played.
    """
    count = len(season.strengths)
    scores, weights = np.zeros((2, count, count))
    for i in range(SEATS):
        for j in range(i):
            sit = season.nodes[:, i] != NOBODY
            first, second = season.nodes[sit, i], season.nodes[sit, j]
            weight = 3 / (1 + (season.nodes[sit] != NOBODY).sum(axis=1))
            score = weight * expected_score(season.means[sit, i] - season.means[sit, j], season.conditions)
            np.add.at(scores, (first, second), score)
            np.add.at(scores, (second, first), weight - score)
            np.add.at(weights, (first, second), weight)
            np.add.at(weights, (second, first), weight)
    played = np.flatnonzero(weights.sum(axis=1))
    ratings = np.full(count, np.nan)
    ratings[played] = bradley_terry(scores[np.ix_(played, played)], weights[np.ix_(played, played)])
    return NEW.value + ratings - float(ratings[:ANCHORS].mean())


def bradley_terry(scores: Floats, weights: Floats) -> Floats:
    """Fit ratings in Elo around 0 whose expected scores equal `scores`, by plain Newton steps without a prior.

    Raises ArithmeticError if they do not converge.
    """
    ratings = np.zeros(len(scores))
    won = scores.sum(axis=1)
    for _ in range(50):
        chances = expit(ratings[:, None] - ratings)
        information = weights * chances * (1 - chances)
        hessian = np.diag(information.sum(axis=1)) - information + 1 / len(scores)
        step = solve(hessian, won - (weights * chances).sum(axis=1), assume_a="pos")
        ratings += step
        if np.abs(step).max() < 1e-9:  # rounding errors in long seasons do not allow a smaller bound
            return np.asarray(SCALE * ratings)
    raise ArithmeticError("no Bradley–Terry ratings found: are all bots connected by their matches?")
