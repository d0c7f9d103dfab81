"""The luck-adjusted score: what is left of a score when the deal's part is taken off it. Never a rating by itself.

After a match the house plays the same deals in every seat; its score b in a seat is a control variate for the score y
there. With means over the table marked by ¯ and the seats' usual baselines by m,

    adjusted = y − β·((b − b̄) − (m − m̄)) − δ·(b̄ − m̄):

β for the own share of the deal, δ for a deal that was rich for all. The mean of an adjusted score is exactly that of
the plain one, whoever plays: deals are drawn afresh, so b differs from m by nothing on average, whatever came before;
and m is taken from matches after those that β and δ were fitted to, so that the two cannot lean the same way. (Means
of all earlier matches would lean by about 1/n.) The variance falls by the factor 1 − ρ². Sums are exact: of whole
points they are whole numbers, which is ten times as fast as fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Final, NamedTuple, TypeAlias

Exact: TypeAlias = int | Fraction

CAUTION: Final = 20
"""The coefficients of n matches are taken times n/(n + CAUTION): few matches fit chance."""


class Coefficients(NamedTuple):
    """How many points of a score a point of the baseline explains."""

    share: Fraction
    """β, of the seat's difference from the table's mean."""
    table: Fraction
    """δ, of the table's mean."""


NONE: Final = Coefficients(Fraction(0), Fraction(0))


class Luck:
    """The adjustment at tables of one kind: one game, one number of seats, one set of options, one house bot.

    Matches are taken in the order of the ladder's events, voided ones too: their deals were fair. The same matches in
    the same order give the same figures to the last bit. Memory does not grow with them.
    """

    __slots__ = ("_means", "_next", "_sums", "_using", "matches", "seats")

    def __init__(self, seats: int) -> None:
        """Before the first match; ValueError for fewer than two seats."""
        if seats < 2:
            raise ValueError(f"luck is adjusted at tables of two seats or more, not {seats}")
        self.seats = seats
        self.matches = 0
        """Taken so far."""
        self._sums = _Sums(seats)
        self._using = self._next = NONE
        self._means = [_Mean(seats), _Mean(seats)]
        """Of the baselines: since the matches that `_using` and `_next` were fitted to."""

    @property
    def coefficients(self) -> Coefficients:
        """What the next match is adjusted with."""
        return self._using

    def take(self, scores: Sequence[float], baselines: Sequence[float]) -> tuple[float, ...]:
        """The adjusted scores of the next match, by seat, from those before it; then learns from it.

        `scores` are final points by seat, `baselines` the house's in the same seats of the same deals, a mean or a
        sum over equally many replays every time. The first four matches are left as they are.
        ValueError: not one of each a seat, or one that is no finite number.
        """
        own, house = self._exact("scores", scores), self._exact("baselines", baselines)
        adjusted = self._adjusted(own, house)
        self._sums.add(own, house)
        for mean in self._means:
            mean.add(house)
        self.matches += 1
        if self.matches & (self.matches - 1) == 0:  # at 1, 2, 4 … matches: fits half as old as all, at the least
            self._using, self._next = self._next, self._sums.fit()
            self._means = [self._means[1], _Mean(self.seats)]
        return adjusted

    def _adjusted(self, own: Sequence[Exact], house: Sequence[Exact]) -> tuple[float, ...]:
        if self._using == NONE:
            return tuple(map(float, own))
        surplus = self._means[0].surplus(house)  # in so many parts of a point as its mean has matches
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


def adjusted_places(adjusted: Sequence[float], vanished: Sequence[bool]) -> tuple[int, ...]:
    """Places by seat, 1 the best, for whoever would rate adjusted scores; equal scores share a place.

    `vanished` says by seat whether its bot vanished, which comes last as it does without an adjustment. A ladder of
    such places measures something else than one of plain places: less luck, so larger differences in Elo for the
    same bots; never mix the two. ValueError for lengths that differ.
    """
    there = [score for score, gone in zip(adjusted, vanished, strict=True) if not gone]
    return tuple(
        1 + len(there) if gone else 1 + sum(other > score for other in there)
        for score, gone in zip(adjusted, vanished, strict=True)
    )


class _Mean:
    """The mean baseline by seat."""

    __slots__ = ("_totals", "matches")

    def __init__(self, seats: int) -> None:
        self.matches = 0
        self._totals: list[Exact] = [0] * seats

    def add(self, house: Sequence[Exact]) -> None:
        self.matches += 1
        self._totals = [total + score for total, score in zip(self._totals, house, strict=True)]

    def surplus(self, house: Sequence[Exact]) -> Sequence[Exact]:
        """What a baseline is above it, times the matches."""
        return [score * self.matches - total for total, score in zip(self._totals, house, strict=True)]


class _Sums:
    """What the coefficients are made of: for every seat's difference from the table, and for the table's mean."""

    __slots__ = ("_matches", "_seats", "_table")

    def __init__(self, seats: int) -> None:
        self._matches = 0
        self._seats = [_Products() for _ in range(seats)]
        self._table = _Products()

    def add(self, own: Sequence[Exact], house: Sequence[Exact]) -> None:
        """Everything times the seats, which is no matter to a slope."""
        seats, score, baseline = len(own), sum(own), sum(house)
        self._matches += 1
        self._table.add(score, baseline)
        for products, mine, usual in zip(self._seats, own, house, strict=True):
            products.add(mine * seats - score, usual * seats - baseline)

    def fit(self) -> Coefficients:
        """Least squares with a constant for each seat, drawn towards none."""
        kept = Fraction(self._matches, self._matches + CAUTION)
        shares = [products.about_means(self._matches) for products in self._seats]
        table = self._table.about_means(self._matches)
        return Coefficients(
            kept * _slope(sum(cross for cross, _ in shares), sum(square for _, square in shares)),
            kept * _slope(*table),
        )


class _Products:
    """Sums over scores and baselines, and over their products."""

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
        """The same products of differences from the means."""
        usual = Fraction(self._baseline) / matches
        return self._cross - self._score * usual, self._square - self._baseline * usual


def _slope(cross: Fraction | int, square: Fraction | int) -> Fraction:
    return Fraction(cross) / square if square else Fraction(0)
