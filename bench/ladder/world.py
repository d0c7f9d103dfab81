"""A world of bots whose strengths are known, and the matches they play; all of it drawn from one seed.

A bot's performance in a match is its strength plus luck of standard deviation 1; a table is ranked by performance. The
strengths of a field have a standard deviation of 0.2: the best of 40 beats the median bot in about 62 % of the matches.
Ties arise by rounding performances, on a grid that lies anew for every match. In a changing field bots leave for others
and for new versions of themselves. In a cyclic one, how well a bot plays depends on who else sits there, as in rock,
paper, scissors.

The truth of such a world is what a Bradley–Terry ladder says of endless repetitions of the same tables: the ratings
whose expected scores are the true ones, summed over every bot's pairs. Where luck is nearly logistic, that is the
strength itself in another unit; where bots form a cycle, it is the best that one number a bot can say.
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
"""The first nodes are anchors, and stay."""
STEP: Final = 0.1
"""Standard deviation of what a new version gains or loses."""
CHANGES: Final = 0.005
"""Of the bots of a changing field, how many give way after a round."""
SEATS: Final = 7
"""Columns of a match, as in the ladder's own tables; nobody sits in those left over."""
NOBODY: Final = -1


class Luck(Enum):
    """How luck is distributed, with mean 0 and standard deviation 1."""

    NORMAL = "normal"
    SKEWED = "skewed"
    """A shifted exponential: now and then, a triumph."""
    HEAVY = "heavy-tailed"
    """Nine of ten from a narrow normal distribution, the tenth from a wide one: kurtosis 10."""


RARE: Final = 0.1
WIDE: Final = 2.4
NARROW: Final = float(np.sqrt((1 - RARE * WIDE**2) / (1 - RARE)))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a field plays under."""

    seats: tuple[int, ...] = (4,)
    """One of these for each round."""
    ties: float = 0.0
    """The share of pairs that tie, nearly."""
    changing: bool = False
    luck: Luck = Luck.NORMAL
    cycle: float = 0.0
    """Amplitude of what a bot gains from one opponent and loses to another."""


@dataclass(frozen=True, slots=True)
class Season:
    """Matches that were played, M of them in their order, and what was true meanwhile."""

    conditions: Conditions
    entrants: tuple[Entrant, ...]
    """By node: node n is the n-th."""
    strengths: Floats
    """By node."""
    nodes: Ints
    """M × 7; NOBODY in the seats left over."""
    places: Ints
    """M × 7, 1 the best, ties sharing a place; 0 where nobody sits."""
    means: Floats
    """M × 7: a seat's performance without its luck; not a number where nobody sits."""


def play(conditions: Conditions, rounds: int, chance: np.random.Generator, bots: int = BOTS) -> Season:
    """A season in which, round after round, everybody sits at one table of random opponents.

    Where a round's seats do not divide the number of bots, some rest, others in each round.
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
    """Who plays in each round (rounds × bots), the nodes and their strengths.

    In a changing field a bot that is no anchor gives way now and then: to a new version of itself, or to
    another bot.
    """
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(bots)]
    strengths = [*chance.normal(0, SPREAD, bots)]
    seated = np.tile(np.arange(bots), (rounds, 1))
    if conditions.changing:
        for seat in range(ANCHORS, bots):
            for at in np.flatnonzero(chance.random(rounds) < CHANGES):
                before = int(seated[at, seat])
                version = chance.random() < 0.5
                node = Node(len(entrants))
                entrants[before] = entrants[before]._replace(newest=not version)
                entrants.append(Entrant(node, parent=Node(before) if version else None))
                strengths.append(strengths[before] + chance.normal(0, STEP) if version else chance.normal(0, SPREAD))
                seated[at:, seat] = node
    return seated, tuple(entrants), np.array(strengths)


def _means(nodes: Ints, strengths: Floats, angles: Floats, cycle: float) -> Floats:
    """What every seat of every match would perform without luck."""
    nobody = nodes == NOBODY
    means = np.where(nobody, np.nan, strengths[nodes])
    if cycle:
        sines, cosines = (np.where(nobody, 0, part(angles)[nodes]) for part in (np.sin, np.cos))
        edge = sines * cosines.sum(axis=1, keepdims=True) - cosines * sines.sum(axis=1, keepdims=True)
        means += cycle * edge / ((~nobody).sum(axis=1, keepdims=True) - 1)
    return means


def ranked(means: Floats, conditions: Conditions, chance: np.random.Generator) -> Ints:
    """Plays the matches: their places, M × 7."""
    match conditions.luck:
        case Luck.NORMAL:
            luck = chance.standard_normal(means.shape)
        case Luck.SKEWED:
            luck = chance.exponential(size=means.shape) - 1
        case Luck.HEAVY:
            luck = chance.standard_normal(means.shape) * np.where(chance.random(means.shape) < RARE, WIDE, NARROW)
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
    """The distance of the grid on which this share of a field's pairs falls together."""
    size = np.sqrt(2 + 2 * SPREAD**2)
    differences = size * np.linspace(0, 6, 20_001)
    density = np.exp(-((differences / size) ** 2) / 2)

    def surplus(grid: float) -> float:
        return float((density * np.clip(1 - differences / grid, 0, 1)).sum() / density.sum()) - ties

    return float(brentq(surplus, 1e-3, 5))


def expected_score(differences: Floats, conditions: Conditions) -> Floats:
    """E[S] of a seat against another whose performance without luck is lower by so much.

    Two performances X apart tie with probability max(0, 1−|X|/g) on a grid of distance g: S is ½ + ½·clip(X/g, −1, 1)
    on average, whose expectation is an integral over the distribution of X.
    """
    if not conditions.ties:
        return _below(differences, conditions.luck)
    points, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros_like(differences)
    for at, weight in zip(grid_of(conditions.ties) * (points + 1) / 2, weights / 2, strict=True):
        total += weight * (_below(differences - at, conditions.luck) - _below(-differences - at, conditions.luck))
    return (1 + total) / 2


def _below(value: Floats, luck: Luck) -> Floats:
    """The probability that the difference of two lucks is below a value."""
    match luck:
        case Luck.NORMAL:
            return np.asarray(ndtr(value / np.sqrt(2)))
        case Luck.SKEWED:
            tail = np.exp(-np.abs(value)) / 2
            return np.where(value < 0, tail, 1 - tail)
        case Luck.HEAVY:
            kinds = {NARROW: 1 - RARE, WIDE: RARE}
            return sum(
                (p * q * np.asarray(ndtr(value / np.hypot(a, b))) for a, p in kinds.items() for b, q in kinds.items()),
                start=np.zeros_like(value),
            )


def truth(season: Season) -> Floats:
    """By node, the true rating in Elo, the anchors' mean at 1500; not a number for nodes that never played."""
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
    """The ratings, in Elo around 0, whose expected scores are those scored: Newton's method, nothing else."""
    ratings = np.zeros(len(scores))
    won = scores.sum(axis=1)
    for _ in range(50):
        chances = expit(ratings[:, None] - ratings)
        information = weights * chances * (1 - chances)
        hessian = np.diag(information.sum(axis=1)) - information + 1 / len(scores)
        step = solve(hessian, won - (weights * chances).sum(axis=1), assume_a="pos")
        ratings += step
        if np.abs(step).max() < 1e-10:
            return np.asarray(SCALE * ratings)
    raise ArithmeticError("no Bradley–Terry ratings found: are all bots connected by their matches?")
