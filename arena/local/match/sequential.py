"""Sequential tests of a comparison: sets are played until one of two hypotheses is accepted.

A test is about the mean score of a set, in one of three units (`ScoreUnit`). Units are never converted into each other.
It is the generalised sequential probability ratio test: with the mean m and the variance s² of N sets,

    points, Elo:  LLR = N/2·ln((s² + (m − lower)²) / (s² + (m − upper)²))
    t = m/s:      LLR = N/2·ln((1 + (t − lower)²) / (1 + (t − upper)²))

It stops at ±ln((1−ε)/ε) after at least `LEAST_SETS` sets, which count in numerical order. If one of the
hypotheses holds, the test errs with a probability of about ε. Between the hypotheses, it may accept either.

Holm's steps limit the error probability of several simultaneous tests together to that of a single test. Of m
hypotheses the first is rejected with ε/m, the second with ε/(m−1), and so on. Acceptance follows the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import expm1, inf, log, sqrt
from typing import Final

from arena.ladder.live import expected
from arena.local.match.design import Design
from arena.local.match.sets import PlayedSet, set_score, set_share

LEAST_SETS: Final = 8
ERRORS: Final = 0.05
"""ε: the probability of a wrong decision, in either direction."""
UNTESTED_SHARES: Final = 0.5
"""Value added to the sum of squared shares, because a few equal sets do not prove that all sets are equal."""


class ScoreUnit(Enum):
    """The quantity that a test examines."""

    T = "t"
    """The difference in points, in standard deviations of a set."""
    POINTS = "points"
    """The difference in points."""
    ELO = "elo"
    """Elo from places: the share of games at one table in which the first bot is ahead. Ties count half."""


class SequentialOutcome(Enum):
    """The outcome of a sequential test."""

    BETTER = "better"
    """The upper hypothesis is accepted."""
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """A test between the differences `lower` and `upper`."""

    lower: float = 0.0
    upper: float = 0.1
    unit: ScoreUnit = ScoreUnit.T

    @property
    def means(self) -> tuple[float, float]:
        """The means of a set's score under the two hypotheses. For t, they are in standard deviations."""
        if self.unit is ScoreUnit.ELO:
            return expected(self.lower, 0.0), expected(self.upper, 0.0)
        return self.lower, self.upper

    def score(self, design: Design, played: PlayedSet) -> float:
        """Return the score of a set, in this unit."""
        return set_share(played) if self.unit is ScoreUnit.ELO else set_score(design, played)

    def spread(self, count: int, variance: float) -> float:
        """Return the standard deviation of the score, or 0 if it is unknown."""
        return sqrt(variance + UNTESTED_SHARES / count) if self.unit is ScoreUnit.ELO else sqrt(variance)

    def ratio(self, count: int, mean: float, variance: float) -> float:
        """Return the log likelihood ratio after a number of sets with this mean and variance."""
        lower, upper = self.means
        spread = self.spread(count, variance)
        if self.unit is ScoreUnit.T:
            if spread == 0:  # t is infinite or undefined because all sets were equal
                return count * (upper - lower) * ((mean > 0) - (mean < 0))
            mean, spread = mean / spread, 1.0
        elif spread == 0:
            return 0.0
        return count / 2 * log((spread**2 + (mean - lower) ** 2) / (spread**2 + (mean - upper) ** 2))


@dataclass(frozen=True, slots=True)
class SequentialState:
    """The state of a sequential test."""

    outcome: SequentialOutcome
    ratio: float
    sets: int
    """Number of sets so far."""


class RunningTest:
    """A sequential test in progress.

    Add the sets in the order of their numbers. Sets after the decision have no effect.
    """

    def __init__(self, test: SequentialTest) -> None:
        self.state = SequentialState(SequentialOutcome.UNDECIDED, 0.0, 0)
        self._test = test
        self._total = 0.0
        self._squares = 0.0
        self._untied = 0

    @property
    def undecided(self) -> bool:
        """True if the test has not decided yet."""
        return self.state.outcome is SequentialOutcome.UNDECIDED

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return self._total / self.state.sets

    @property
    def variance(self) -> float:
        """The variance of the scores."""
        return max(0.0, self._squares / self.state.sets - self.mean**2)

    def add(self, score: float) -> None:
        """Add the score of the next set to a single test, and decide."""
        self.update(score)
        decide([self])

    def update(self, score: float) -> None:
        """Add the score of the next set."""
        if not self.undecided:
            return
        self._total += score
        self._squares += score * score
        self._untied += score != 0
        sets = self.state.sets + 1
        self.state = SequentialState(SequentialOutcome.UNDECIDED, 0.0, sets)
        ratio = self._test.ratio(sets, self.mean, self.variance)
        self.state = SequentialState(SequentialOutcome.UNDECIDED, ratio, sets)

    @property
    def ready(self) -> bool:
        """True if there are enough sets for a decision.

        Sets with equal points do not count, because they reveal nothing about other sets.
        """
        return (self._untied if self._test.unit is ScoreUnit.POINTS else self.state.sets) >= LEAST_SETS

    def conclude(self, outcome: SequentialOutcome) -> None:
        """Record the decision."""
        self.state = SequentialState(outcome, self.state.ratio, self.state.sets)

    def sets_left(self, upper: float, lower: float) -> float:
        """Estimate the number of sets until the ratio leaves (-lower, upper). The estimate is infinite if unknown.

        The ratio is modelled as a random walk with the drift observed so far.
        """
        if not self.ready:
            return inf
        sets, (low, high) = self.state.sets, self._test.means
        spread = 1.0 if self._test.unit is ScoreUnit.T else self._test.spread(sets, self.variance)
        if spread == 0:
            return inf
        return exit_time(self.state.ratio, upper, lower, self.state.ratio / sets, ((high - low) / spread) ** 2)


def bound(errors: float = ERRORS) -> float:
    """Return the log likelihood ratio at which a test with this error probability stops."""
    return log((1 - errors) / errors)


def bounds(tests: Sequence[RunningTest]) -> tuple[float, float]:
    """Return the ratios at which the next of these tests decides "better" or "not better", by Holm's steps."""
    outcomes = [each.state.outcome for each in tests]
    rejected, accepted = (outcomes.count(each) for each in (SequentialOutcome.BETTER, SequentialOutcome.NOT_BETTER))
    most = len(tests) - 1  # if all tests are decided, there is no next test
    return bound(ERRORS / (len(tests) - min(rejected, most))), bound(ERRORS / (len(tests) - min(accepted, most)))


def decide(tests: Sequence[RunningTest]) -> None:
    """Decide the tests of a match that can be decided. Begin with the clearest."""
    while ready := [each for each in tests if each.undecided and each.ready]:
        upper, lower = bounds(tests)
        best = max(ready, key=lambda each: each.state.ratio)
        worst = min(ready, key=lambda each: each.state.ratio)
        if best.state.ratio >= upper:
            best.conclude(SequentialOutcome.BETTER)
        elif worst.state.ratio <= -lower:
            worst.conclude(SequentialOutcome.NOT_BETTER)
        else:
            return


def exit_time(position: float, upper: float, lower: float, drift: float, variance: float) -> float:
    """Return the mean number of steps until a random walk leaves (-lower, upper), from the drift and variance of a
    step."""
    if drift < 0:
        return exit_time(-position, lower, upper, -drift, variance)
    width, height = upper + lower, position + lower
    rate = 2 * drift / variance
    if rate * width < 1e-6:
        return (upper - position) * height / variance
    return (width * expm1(-rate * height) / expm1(-rate * width) - height) / drift
