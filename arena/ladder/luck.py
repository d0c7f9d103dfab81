"""Luck-adjusted scores: a score minus the part that the deal explains. They are not ratings.

After a match, a house bot plays the same deals in every seat. Its score b in a seat, the baseline, is a control variate
for the score y in that seat. If m is the seat's mean baseline and ¯ a mean over the table, adjusted = y − β·((b − b̄) −
(m − m̄)) − δ·(b̄ − m̄). β is the coefficient of a seat's own share of the deal, and δ that of a deal that was good for
all seats. The adjustment is unbiased for any players: deals are independent, so b − m is 0 on average. The mean m is
computed from matches after those to which β and δ were fitted, so the errors are independent. (Means of all earlier
matches would cause a bias of about 1/n.) The variance falls by the factor 1 − ρ²; ρ is the correlation of y and b.
Sums are exact. They are integers if points are integers, which is ten times as fast as fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from typing import Final, NamedTuple, TypeAlias

Exact: TypeAlias = int | Fraction

SHRINKAGE: Final = 20
"""Coefficients fitted to n matches are multiplied by n/(n + SHRINKAGE), which avoids overfitting to few matches."""


class Coefficients(NamedTuple):
    """Number of points of a score that one point of the baseline explains."""

    share: Fraction
    """β, for the seat's difference from the table's mean."""
    table: Fraction
    """δ, for the table's mean."""


NO_ADJUSTMENT: Final = Coefficients(Fraction(0), Fraction(0))


class Luck:
    """Luck adjustment for tables of one kind: one game, number of seats, set of options and house bot.

    Annulled matches also count, because their deals were fair. The same matches in the same order give the same figures
    to the last bit. Memory use does not grow with the number of matches.
    """

    __slots__ = ("_means", "_next", "_sums", "_using", "matches", "seats")

    def __init__(self, seats: int) -> None:
        """Create the state before the first match. Raises ValueError for fewer than two seats."""
        if seats < 2:
            raise ValueError(f"luck is adjusted at tables of two seats or more, not {seats}")
        self.seats = seats
        self.matches = 0
        """Number of applied matches."""
        self._sums = _Sums(seats)
        self._using = self._next = NO_ADJUSTMENT
        self._means = [_Mean(seats), _Mean(seats)]
        """Mean baselines of the matches since `_using` was fitted, and of those since `_next` was."""

    @property
    def coefficients(self) -> Coefficients:
        """Coefficients for the next match."""
        return self._using

    def take(self, scores: Sequence[float], baselines: Sequence[float]) -> tuple[float, ...]:
        """Adjust the scores of the next match, by seat, with coefficients from earlier matches.

        Then update the coefficients.

        `scores`: the final points by seat. `baselines`: the house bot's points on the same deals, as a mean or sum over
        a constant number of replays. The first four matches are not adjusted. Raises ValueError unless both contain one
        finite number for every seat.
        """
        own, house = self._exact("scores", scores), self._exact("baselines", baselines)
        adjusted = self._adjusted(own, house)
        self._sums.add(own, house)
        for mean in self._means:
            mean.add(house)
        self.matches += 1
        # after 1, 2, 4 … matches, so that the coefficients in use come from at least a quarter of all matches
        if self.matches & (self.matches - 1) == 0:
            self._using, self._next = self._next, self._sums.fit()
            self._means = [self._means[1], _Mean(self.seats)]
        return adjusted

    def _adjusted(self, own: Sequence[Exact], house: Sequence[Exact]) -> tuple[float, ...]:
        if self._using == NO_ADJUSTMENT:
            return tuple(map(float, own))
        surplus = self._means[0].surplus(house)  # multiplied by the number of matches in that mean
        table = sum(surplus)
        (p, q), (u, v) = (each.as_integer_ratio() for each in self._using)
        parts = q * v * self.seats * self._means[0].matches
        return tuple(
            float((score * parts - p * v * (extra * self.seats - table) - u * q * table) / parts)
            for score, extra in zip(own, surplus, strict=True)
        )

    def _exact(self, what: str, values: Sequence[float]) -> list[Exact]:
        if len(values) != self.seats:
            raise ValueError(f"{len(values)} {what} for a table of {self.seats} seats")
        for value in values:
            if not isfinite(value):
                raise ValueError(f"{what} must be finite numbers, not {value}")
        return [value if isinstance(value, int) else Fraction(value) for value in values]


def fitted(seats: int, matches: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Coefficients:
    """Fit coefficients to matches, each with the scores and the baselines by seat."""
    sums = _Sums(seats)
    for scores, baselines in matches:
        sums.add(scores, baselines)
    return sums.fit()


class _Mean:
    """Mean baseline of each seat."""

    __slots__ = ("_totals", "matches")

    def __init__(self, seats: int) -> None:
        self.matches = 0
        self._totals: list[Exact] = [0] * seats

    def add(self, house: Sequence[Exact]) -> None:
        self.matches += 1
        self._totals = [total + score for total, score in zip(self._totals, house, strict=True)]

    def surplus(self, house: Sequence[Exact]) -> Sequence[Exact]:
        """Return, for each seat, the baseline minus the mean, multiplied by `matches` so that it is exact."""
        return [score * self.matches - total for total, score in zip(self._totals, house, strict=True)]


class _Sums:
    """Sums for two regressions: of the differences of the seats from the table's mean, and of the table's mean."""

    __slots__ = ("_matches", "_seats", "_table")

    def __init__(self, seats: int) -> None:
        self._matches = 0
        self._seats = [_Products() for _ in range(seats)]
        self._table = _Products()

    def add(self, own: Sequence[Exact], house: Sequence[Exact]) -> None:
        """Add a match, with all values multiplied by the number of seats.

        So sums are exact, and slopes do not change.
        """
        seats, score, baseline = len(own), sum(own), sum(house)
        self._matches += 1
        self._table.add(score, baseline)
        for products, mine, usual in zip(self._seats, own, house, strict=True):
            products.add(mine * seats - score, usual * seats - baseline)

    def fit(self) -> Coefficients:
        """Fit both coefficients by least squares with an intercept for each seat, shrunk towards 0."""
        kept = Fraction(self._matches, self._matches + SHRINKAGE)
        shares = [products.about_means(self._matches) for products in self._seats]
        table = self._table.about_means(self._matches)
        return Coefficients(
            kept * _slope(sum(cross for cross, _ in shares), sum(square for _, square in shares)),
            kept * _slope(*table),
        )


class _Products:
    """Sums of scores, baselines and their products, for a simple regression."""

    __slots__ = ("_baseline", "_cross", "_score", "_square")

    def __init__(self) -> None:
        self._score: Exact = 0
        self._baseline: Exact = 0
        self._cross: Exact = 0
        self._square: Exact = 0

    def add(self, score: Exact, baseline: Exact) -> None:
        self._score += score
        self._baseline += baseline
        self._cross += score * baseline
        self._square += baseline * baseline

    def about_means(self, matches: int) -> tuple[Fraction, Fraction]:
        """Return the sums Σ(y−ȳ)(b−b̄) and Σ(b−b̄)²."""
        usual = Fraction(self._baseline) / matches
        return self._cross - self._score * usual, self._square - self._baseline * usual


def _slope(cross: Fraction | int, square: Fraction | int) -> Fraction:
    return Fraction(cross) / square if square else Fraction(0)
