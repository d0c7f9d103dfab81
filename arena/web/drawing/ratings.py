"""Ratings as SVG: the curve of a bot's live rating with its 95 % band, and the intervals of a ladder on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import LadderRow, PastLadderRow, RatedRow

WIDTH: Final = 720
HEIGHT: Final = 200
LEFT: Final = 44
"""Width of the labels, in units of the drawing."""
UNSETTLED: Final = 40.0
"""Standard error, in Elo, above which a past rating was provisional."""
SCALE: Final = 200
"""Width of the scale for intervals, in units."""


def rating_curve(rows: Sequence[RatedRow]) -> Markup:
    """Draw a bot's live rating after each of the given matches, in order; nothing for fewer than two."""
    if len(rows) < 2:
        return Markup("")
    lows = [row.after - CONFIDENCE * row.deviation for row in rows]
    highs = [row.after + CONFIDENCE * row.deviation for row in rows]
    # The scale fits the whole line, but only the later three quarters of the band, as the first bands are very wide.
    later = len(rows) // 4
    low = min(*lows[later:], *(row.after for row in rows))
    high = max(*highs[later:], *(row.after for row in rows), low + 1)

    def x(place: int) -> float:
        return LEFT + (WIDTH - LEFT - 4) * place / (len(rows) - 1)

    def y(rating: float) -> float:
        return 6 + (HEIGHT - 12) * (1 - min(max((rating - low) / (high - low), 0), 1))

    line = " ".join(f"{x(place):.1f},{y(row.after):.1f}" for place, row in enumerate(rows))
    above = [f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(highs)]
    below = [f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(lows)]
    labels = Markup("").join(
        Markup('<text x="{}" y="{:.1f}" font-size="12" text-anchor="end" fill="currentColor">{}</text>').format(
            LEFT - 6, y(mark) + 4, mark
        )
        for mark in _marks(low, high)
    )
    return Markup(
        '<svg class="curve" viewBox="0 0 {} {}" role="img" font-family="system-ui, sans-serif"><title>{}</title>{}'
        '<polygon points="{}" fill="currentColor" fill-opacity="0.12"/>'
        '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
    ).format(WIDTH, HEIGHT, _in_words(rows), labels, " ".join([*above, *reversed(below)]), line)


def _in_words(rows: Sequence[RatedRow]) -> str:
    return f"From {rows[0].after:.0f} to {rows[-1].after:.0f} Elo in {len(rows)} matches"


def _marks(low: float, high: float) -> list[int]:
    """Return a few round ratings from low to high."""
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000) if (high - low) / size <= 5)
    return [step * each for each in range(-int(-low // step), int(high // step) + 1)]


class Interval(NamedTuple):
    """A rating's 95 % interval on the scale of a ladder, in units from its left end."""

    left: float
    middle: float
    right: float
    cut_left: bool
    cut_right: bool
    """True if the interval reaches further than the scale."""


class Scale(NamedTuple):
    """The scale of a ladder's intervals: from `low` to `high` in Elo, with round ratings between."""

    low: int
    high: int

    @property
    def marks(self) -> list[tuple[float, int]]:
        """A few round ratings with their places in units."""
        return [(round((mark - self.low) / (self.high - self.low) * SCALE, 1), mark) for mark in self._round()]

    def _round(self) -> list[int]:
        step = next(size for size in (100, 200, 500, 1000, 2000, 5000, 10_000) if (self.high - self.low) / size <= 4)
        return [*range(-(-self.low // step) * step, self.high + 1, step)]


def _provisional(row: LadderRow | PastLadderRow) -> bool:
    return row.provisional if isinstance(row, LadderRow) else row.fitted_deviation > UNSETTLED


class Intervals(NamedTuple):
    """The intervals of a ladder, and the scale on which they are drawn."""

    scale: Scale
    each: Sequence[Interval]


def _scale(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> Scale:
    """Return the scale that fits all ratings, and the intervals of settled bots. Its ends are whole hundreds, so that
    it seldom changes."""
    settled = [row for row in rows if not _provisional(row)] or rows
    ends = [row.rating for row in rows]
    ends += [row.rating + side * CONFIDENCE * row.deviation for row in settled for side in (-1, 1)]
    low, high = min(ends, default=1500.0) // 100 * 100, -(-max(ends, default=1500.0) // 100) * 100
    return Scale(int(low), int(max(high, low + 100)))


def intervals(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> Intervals:
    """Return all ratings' intervals on the scale of the rows; those that are wider are cut."""
    low, high = scale = _scale(rows)

    def at(rating: float) -> float:
        return round(min(max((rating - low) / (high - low), 0), 1) * SCALE, 1)

    found = []
    for row in rows:
        left, right = (row.rating + side * CONFIDENCE * row.deviation for side in (-1, 1))
        found.append(Interval(at(left), at(row.rating), at(right), left < low, right > high))
    return Intervals(scale, found)
