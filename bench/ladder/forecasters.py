"""Rating systems as forecasters. Each reads matches in order and predicts the score of any bot against any other.

The systems are Elo with constant K, Glicko-2, TrueSkill and openskill, each with its authors' settings. The last three
also run with settings for players of constant strength, because a version of a bot never changes. Glicko-2 follows
Glickman (2013), and TrueSkill follows Herbrich, Minka and Graepel (2006) with teams of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log, pi, sqrt
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from scipy.special import expit, log_ndtr, ndtr, ndtri

from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.live import NEW, SCALE, update
from arena.ladder.live import expected as expected_score
from bench.ladder.arrays import columns_of
from bench.ladder.world import NOBODY, SEATS, Floats


class Forecaster(Protocol):
    """A rating system."""

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        """Apply the result of the next match: the bots by seat, all different, and their places."""

    def expected(self) -> Floats:
        """Compute the expected scores [bots, bots] of every bot against every other. A tie counts half."""


def _pair_score(place: int, other: int) -> float:
    return 1.0 if place < other else 0.5 if place == other else 0.0


class Fitted:
    """The ladder's fitted ratings or, with `shown`, the shrunk ratings that it publishes and uses for forecasts."""

    def __init__(self, bots: int, *, shown: bool) -> None:
        self._entrants = [Entrant(Node(bot)) for bot in range(bots)]
        self._shown = shown
        self._nodes: list[list[int]] = []
        self._places: list[list[int]] = []

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        empty = SEATS - len(bots)
        self._nodes.append([*bots, *[NOBODY] * empty])
        self._places.append([*places, *[0] * empty])

    def expected(self) -> Floats:
        made = ladder(self._entrants, columns_of(np.array(self._nodes), np.array(self._places)))
        ratings = np.zeros(len(self._entrants))
        for line in made.lines:
            ratings[line.node] = line.shrunk if self._shown else line.rating
        return np.asarray(expit((ratings[:, None] - ratings) / SCALE))


class Live:
    """The ladder's live ratings alone, never rebased on a fit."""

    def __init__(self, bots: int) -> None:
        self._ratings = [NEW] * bots

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        for bot, rating in zip(bots, update([self._ratings[bot] for bot in bots], places), strict=True):
            self._ratings[bot] = rating

    def expected(self) -> Floats:
        return np.array([[expected_score(one.value, other.value) for other in self._ratings] for one in self._ratings])


class ConstantElo:
    """Elo with a constant K. A match counts as one game with the mean score against all others."""

    def __init__(self, bots: int, factor: float) -> None:
        self._ratings = [0.0] * bots
        self._factor = factor

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        before = [self._ratings[bot] for bot in bots]
        for seat, bot in enumerate(bots):
            surplus = sum(
                _pair_score(places[seat], places[other]) - expected_score(before[seat], before[other])
                for other in range(len(bots))
                if other != seat
            )
            self._ratings[bot] += self._factor / (len(bots) - 1) * surplus

    def expected(self) -> Floats:
        ratings = np.array(self._ratings)
        return np.asarray(expit((ratings[:, None] - ratings) / SCALE))


class Glicko(NamedTuple):
    """Rating of a player on Glicko-2's own scale."""

    mean: float
    deviation: float
    volatility: float


class Glicko2:
    """Glicko-2 with each pair of a match as a game, and with rating periods of `period` matches."""

    UNIT: Final = 173.7178
    """Elo per unit of Glicko-2's own scale."""
    STEP: Final = 1e-6

    def __init__(
        self, bots: int, *, period: int = 25, volatility: float = 0.06, change: float = 0.5, deviation: float = 350.0
    ) -> None:
        """Set the parameters. `change` is Glickman's τ. With a `volatility` of 0, players never change."""
        self._ratings = [Glicko(0.0, deviation / self.UNIT, volatility)] * bots
        self._period = period
        self._change = change
        self._matches: list[tuple[Sequence[int], Sequence[int]]] = []

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        self._matches.append((bots, places))
        if len(self._matches) == self._period:
            games: list[list[tuple[Glicko, float]]] = [[] for _ in self._ratings]
            for seated, placed in self._matches:
                for seat, bot in enumerate(seated):
                    games[bot] += [
                        (self._ratings[other], _pair_score(placed[seat], placed[at]))
                        for at, other in enumerate(seated)
                        if at != seat
                    ]
            self._ratings = [self.rated(rating, own) for rating, own in zip(self._ratings, games, strict=True)]
            self._matches = []

    def rated(self, rating: Glicko, games: Sequence[tuple[Glicko, float]]) -> Glicko:
        """Return a player's rating after a rating period. `games`: for each game, the opponent's rating and the
        player's score.
        """
        mean, deviation, volatility = rating
        if not games:
            return rating._replace(deviation=sqrt(deviation**2 + volatility**2))
        weights = [_weight(opponent.deviation) for opponent, _ in games]
        chances = [1 / (1 + exp(-g * (mean - opponent.mean))) for g, (opponent, _) in zip(weights, games, strict=True)]
        variance = 1 / sum(g**2 * e * (1 - e) for g, e in zip(weights, chances, strict=True))
        surplus = sum(g * (score - e) for g, e, (_, score) in zip(weights, chances, games, strict=True))
        if volatility:
            volatility = self._changed(volatility, deviation**2, variance, (variance * surplus) ** 2)
        after = 1 / (1 / (deviation**2 + volatility**2) + 1 / variance)
        return Glicko(mean + after * surplus, sqrt(after), volatility)

    def _changed(self, volatility: float, own: float, variance: float, square: float) -> float:
        """Find the new volatility with the Illinois method (step 5 of the paper)."""
        start = log(volatility**2)

        def slope(at: float) -> float:
            total = own + variance + exp(at)
            return exp(at) * (square - total) / (2 * total**2) - (at - start) / self._change**2

        low, high = start, start - self._change
        if square > own + variance:
            high = log(square - own - variance)
        else:
            while slope(high) < 0:
                high -= self._change
        at_low, at_high = slope(low), slope(high)
        while abs(high - low) > self.STEP:
            between = low + (low - high) * at_low / (at_high - at_low)
            found = slope(between)
            if found * at_high <= 0:
                low, at_low = high, at_high
            else:
                at_low /= 2
            high, at_high = between, found
        return exp(low / 2)

    def expected(self) -> Floats:
        means = np.array([rating.mean for rating in self._ratings])
        squares = np.array([rating.deviation**2 for rating in self._ratings])
        weights = 1 / np.sqrt(1 + 3 * (squares[:, None] + squares) / pi**2)
        return np.asarray(expit(weights * (means[:, None] - means)))


def _weight(deviation: float) -> float:
    """Return Glickman's g, the weight of an opponent, which is smaller if the opponent's rating is uncertain."""
    return 1 / sqrt(1 + 3 * deviation**2 / pi**2)


class TrueSkill:
    """TrueSkill for single players: expectation propagation along the order of places."""

    MEAN: Final = 25.0
    DEVIATION: Final = MEAN / 3
    LUCK: Final = MEAN / 6
    SWEEPS: Final = 60
    SMALLEST_MOVE: Final = 1e-6

    def __init__(self, bots: int, *, drift: float = DEVIATION / 100, ties: float = 0.1) -> None:
        """Set the parameters.

        `drift` is the paper's τ, the standard deviation of a player's change before each match. `ties` is the share of
        ties.
        """
        self._means = [self.MEAN] * bots
        self._variances = [self.DEVIATION**2] * bots
        self._drift = drift
        self._margin = float(ndtri((1 + ties) / 2)) * sqrt(2) * self.LUCK

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        order = sorted(range(len(bots)), key=lambda seat: places[seat])
        seated = [bots[seat] for seat in order]
        tied = [places[one] == places[other] for one, other in pairwise(order)]
        found = self.rated([(self._means[bot], self._variances[bot]) for bot in seated], tied)
        for bot, (mean, variance) in zip(seated, found, strict=True):
            self._means[bot], self._variances[bot] = mean, variance

    def rated(self, players: Sequence[tuple[float, float]], tied: Sequence[bool]) -> list[tuple[float, float]]:
        """Rate players, given as means and variances from the first place to the last.

        `tied` is true for each pair of neighbours that tied.
        """
        before = [(mean, variance + self._drift**2) for mean, variance in players]
        # A message is a pair: the precision, and the precision times the mean. It comes from a player's skill or a
        # neighbour.
        own = [(1 / (variance + self.LUCK**2), mean / (variance + self.LUCK**2)) for mean, variance in before]
        lower = [(0.0, 0.0)] * len(players)
        """Messages to each player from the pair with the next player."""
        upper = [(0.0, 0.0)] * len(players)
        """Messages to each player from the pair with the previous player."""
        pairs = [*range(len(tied)), *range(len(tied) - 2, 0, -1)]
        for _ in range(self.SWEEPS):
            moved = 0.0
            for pair in pairs:
                first, second = _product(own[pair], upper[pair]), _product(own[pair + 1], lower[pair + 1])
                to_first, to_second = self._messages(first, second, tied=tied[pair])
                moved = max(moved, _distance(lower[pair], to_first), _distance(upper[pair + 1], to_second))
                lower[pair], upper[pair + 1] = to_first, to_second
            if moved < self.SMALLEST_MOVE:
                break
        found = []
        for (mean, variance), below, above in zip(before, lower, upper, strict=True):
            precision, weighted = _product(below, above)
            if precision:
                weighted, precision = weighted / precision, 1 / (1 / precision + self.LUCK**2)
                after = 1 / (1 / variance + precision)
                mean, variance = after * (mean / variance + weighted * precision), after
            found.append((mean, variance))
        return found

    def _messages(
        self, first: tuple[float, float], second: tuple[float, float], *, tied: bool
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the messages to both players of a pair, given all other messages about them."""
        ones, others = 1 / first[0], 1 / second[0]
        difference, variance = first[1] * ones - second[1] * others, ones + others
        size = sqrt(variance)
        shift, shrink = (
            _tie(difference / size, self._margin / size) if tied else _win((difference - self._margin) / size)
        )
        left = variance * max(1e-9, 1 - shrink)
        precision = 1 / left - 1 / variance
        if precision <= 0:
            return (0.0, 0.0), (0.0, 0.0)
        apart, unsure = ((difference + size * shift) / left - difference / variance) / precision, 1 / precision
        to_first, to_second = 1 / (others + unsure), 1 / (ones + unsure)
        return (to_first, to_first * (second[1] * others + apart)), (to_second, to_second * (first[1] * ones - apart))

    def expected(self) -> Floats:
        means, variances = np.array(self._means), np.array(self._variances)
        size = np.sqrt(2 * self.LUCK**2 + variances[:, None] + variances)
        ahead = means[:, None] - means
        return np.asarray((ndtr((ahead - self._margin) / size) + ndtr((ahead + self._margin) / size)) / 2)


def _product(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] + other[0], one[1] + other[1]


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def _density(value: float) -> float:
    return exp(-(value**2) / 2) / sqrt(2 * pi)


def _win(ahead: float) -> tuple[float, float]:
    """Return the shift of a normal difference's mean, and its loss of variance, if it is known to be positive."""
    shift = exp(-(ahead**2) / 2 - float(log_ndtr(ahead))) / sqrt(2 * pi)
    return shift, shift * (shift + ahead)


def _tie(ahead: float, margin: float) -> tuple[float, float]:
    """Return the shift of a normal difference's mean, and its loss of variance, if it is known to lie within `margin`
    of zero.
    """
    low, high = -margin - ahead, margin - ahead
    inside = max(1e-12, float(ndtr(high) - ndtr(low)))
    shift = (_density(low) - _density(high)) / inside
    return shift, shift**2 + (high * _density(high) - low * _density(low)) / inside


class OpenSkill:
    """The Plackett–Luce model of the openskill package."""

    def __init__(self, bots: int, *, drift: float | None = None) -> None:
        """Set `drift`, openskill's τ: the change of a player's skill before each match. It defaults to the model's own
        value.
        """
        from openskill.models import PlackettLuce

        self._model: Any = PlackettLuce() if drift is None else PlackettLuce(tau=drift)
        self._ratings = [self._model.rating() for _ in range(bots)]

    def take(self, bots: Sequence[int], places: Sequence[int]) -> None:
        after = self._model.rate([[self._ratings[bot]] for bot in bots], ranks=[*map(float, places)])
        for bot, (rating,) in zip(bots, after, strict=True):
            self._ratings[bot] = rating

    def expected(self) -> Floats:
        means = np.array([rating.mu for rating in self._ratings])
        variances = np.array([rating.sigma**2 for rating in self._ratings])
        size = np.sqrt(2 * self._model.beta**2 + variances[:, None] + variances)
        return np.asarray(ndtr((means[:, None] - means) / size))
