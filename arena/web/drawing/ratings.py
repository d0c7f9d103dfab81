"""Drawings as SVG: the curve of a live rating with its 95 % band, a ladder's intervals, and histograms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, timedelta
from itertools import groupby, pairwise
from math import floor, log10, sqrt
from typing import Final, NamedTuple

from markupsafe import Markup

from arena.ladder.think_times import RATIO
from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import LadderRow, PastLadderRow, RatedRow

WIDTH: Final = 720
HEIGHT: Final = 230
BOTTOM: Final = 202
"""Vertical position of the time axis, above its labels."""
LEFT: Final = 44
"""Width of the labels, in units of the drawing."""
MOVED: Final = 0.5
"""Minimum change of a live rating between two matches that is drawn as a new fit, in Elo."""
ROOM: Final = 190
"""Width that a version's name needs."""
UNSETTLED: Final = 40.0
"""Standard error, in Elo, above which a past rating was provisional."""
BARS: Final = 340
"""Width of a histogram."""
TALL: Final = 80
"""Height of a histogram's tallest bar."""
EDGE: Final = 24
"""Empty margins at the sides of a histogram, for labels."""
BINS: Final = 4
"""Number of bars per factor of ten in a histogram of times."""
SCALE: Final = 200
"""Width of the scale for intervals, in units."""


def refits(rows: Sequence[RatedRow]) -> list[int]:
    """Return the indices of the matches before which a new fit (computation of all ratings) changed the live rating."""
    return [
        place
        for place, (row, following) in enumerate(pairwise(rows), 1)
        if row.version == following.version and abs(following.before - row.after) >= MOVED
    ]


def rating_curve(rows: Sequence[RatedRow]) -> Markup:
    """Draw a bot's live rating after each of the given matches, in order. Return an empty string for fewer than two
    matches.

    Solid lines show matches, and dotted lines new fits. Every other version has a shaded background.
    """
    if len(rows) < 2:
        return Markup("")
    lows = [row.after - CONFIDENCE * row.deviation for row in rows]
    highs = [row.after + CONFIDENCE * row.deviation for row in rows]
    # The scale fits the whole line, but only the last three quarters of the band. The first bands are very wide.
    later = len(rows) // 4
    low = min(*lows[later:], *(row.after for row in rows))
    high = max(*highs[later:], *(row.after for row in rows), low + 1)

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - 4) * min(max(place / (len(rows) - 1), 0), 1)

    def y(rating: float) -> float:
        return 6 + (BOTTOM - 12) * (1 - min(max((rating - low) / (high - low), 0), 1))

    above = [f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(highs)]
    below = [f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(lows)]
    labels = Markup("").join(_label(LEFT - 6, y(mark) + 4, "end", mark) for mark in _marks(low, high))
    return Markup(
        '<svg class="curve" viewBox="0 0 {} {}" role="img" font-family="system-ui, sans-serif"><title>{}</title>{}{}{}'
        '<polygon points="{}" fill="currentColor" fill-opacity="0.12"/>{}</svg>'
    ).format(
        WIDTH,
        HEIGHT,
        f"From {rows[0].after:.0f} to {rows[-1].after:.0f} Elo in {len(rows)} matches",
        _versions(rows, x),
        labels,
        _times(rows, x),
        " ".join([*above, *reversed(below)]),
        _line(rows, x, y),
    )


def _versions(rows: Sequence[RatedRow], x: Callable[[float], float]) -> Markup:
    """Draw a background for every other version, and names that fit. Draw nothing for a single version."""
    found, first = Markup(""), 0
    runs = [len([*run]) for _, run in groupby(rows, lambda row: row.version)]
    for number, length in enumerate(runs if len(runs) > 1 else ()):
        left, right = x(first - 0.5), x(first + length - 0.5)
        name = f"version {rows[first].version}" if rows[first].version else "no version stated"
        found += Markup(
            '<g class="version"><title>{}</title>'
            '<rect x="{:.1f}" width="{:.1f}" y="0" height="{}" fill="currentColor" fill-opacity="{}"/>{}</g>'
        ).format(
            name,
            left,
            right - left,
            BOTTOM,
            0.07 * (number % 2),
            _label(left + 4, 14, "start", name) if right - left >= ROOM else "",
        )
        first += length
    return found


def _line(rows: Sequence[RatedRow], x: Callable[[float], float], y: Callable[[float], float]) -> Markup:
    """Draw the rating: a line for each run of matches without a new fit or version, dotted lines for new fits."""
    moved = {*refits(rows)}
    played, fitted = f"M{x(0):.1f} {y(rows[0].after):.1f}", ""
    for place, (row, following) in enumerate(pairwise(rows), 1):
        if place in moved or row.version != following.version:
            start = f"M{x(place - 1):.1f} {y(following.before):.1f}"
            played += start
            fitted += f"M{x(place - 1):.1f} {y(row.after):.1f}L{start[1:]}" if place in moved else ""
        played += f"L{x(place):.1f} {y(following.after):.1f}"
    line = Markup('<path class="play" d="{}" fill="none" stroke="currentColor" stroke-width="2"/>').format(played)
    if not fitted:
        return line
    return line + Markup(
        '<path class="refit" d="{}" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2 3"/>'
    ).format(fitted)


def _times(rows: Sequence[RatedRow], x: Callable[[float], float]) -> Markup:
    """Draw the time axis with the times (UTC) at which the first, a middle and the last match ended."""
    span = rows[-1].ended - rows[0].ended
    forms = ((timedelta(minutes=10), "%H:%M:%S"), (timedelta(days=1), "%H:%M"), (timedelta(days=300), "%d %b"))
    form = next((each for least, each in forms if span < least), "%b %Y")
    axis = Markup('<path class="axis" d="M{} {}H{}" stroke="currentColor" stroke-opacity="0.4"/>').format(
        LEFT, BOTTOM, WIDTH - 4
    )
    places = [(0, "start"), (len(rows) // 2, "middle"), (len(rows) - 1, "end")]
    shown = places if len(rows) > 2 else places[::2]
    return axis + Markup("").join(
        _label(x(place), HEIGHT - 6, anchor, f"{rows[place].ended.astimezone(UTC):{form}}") for place, anchor in shown
    )


def _label(x: float, y: float, anchor: str, text: object) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" font-size="12" text-anchor="{}" fill="currentColor">{}</text>').format(
        x, y, anchor, text
    )


def _marks(low: float, high: float) -> list[int]:
    """Return a few round ratings from low to high."""
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000) if (high - low) / size < 4)
    return [step * each for each in range(-int(-low // step), int(high // step) + 1)]


class Interval(NamedTuple):
    """A rating's 95 % interval on the scale of a ladder, in units from its left end."""

    left: float
    middle: float
    right: float
    cut_left: bool
    cut_right: bool
    """True if the interval extends beyond the scale."""


class Scale(NamedTuple):
    """The scale of a ladder's intervals: from `low` to `high` in Elo, with round ratings between them."""

    low: int
    high: int

    @property
    def marks(self) -> list[tuple[float, int]]:
        """A few round ratings with their positions in units."""
        width = self.high - self.low
        step = next(size for size in (100, 200, 500, 1000, 2000, 5000, 10_000) if width / size <= 4)
        marks = range(-(-self.low // step) * step, self.high + 1, step)
        return [(round((mark - self.low) / width * SCALE, 1), mark) for mark in marks]


def _provisional(row: LadderRow | PastLadderRow) -> bool:
    return row.provisional if isinstance(row, LadderRow) else row.fitted_deviation > UNSETTLED


class Intervals(NamedTuple):
    """The intervals of a ladder, and the scale on which they are drawn."""

    scale: Scale
    each: Sequence[Interval]


def _scale(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> Scale:
    """Return the scale that fits all ratings and the intervals of settled bots. Its ends are multiples of 100, so that
    they seldom change.
    """
    settled = [row for row in rows if not _provisional(row)] or rows
    ends = [row.rating for row in rows]
    ends += [row.rating + side * CONFIDENCE * row.deviation for row in settled for side in (-1, 1)]
    low, high = min(ends, default=1500.0) // 100 * 100, -(-max(ends, default=1500.0) // 100) * 100
    return Scale(int(low), int(max(high, low + 100)))


def intervals(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> Intervals:
    """Return the intervals of all ratings on the scale of the rows. Intervals beyond the scale are cut."""
    low, high = scale = _scale(rows)

    def at(rating: float) -> float:
        return round(min(max((rating - low) / (high - low), 0), 1) * SCALE, 1)

    found = []
    for row in rows:
        left, right = (row.rating + side * CONFIDENCE * row.deviation for side in (-1, 1))
        found.append(Interval(at(left), at(row.rating), at(right), left < low, right > high))
    return Intervals(scale, found)


def think_histogram(times: Mapping[int, int]) -> Markup:
    """Draw a histogram of `arena.ladder.think_times` on a logarithmic time scale.

    Return an empty string for an empty histogram.
    """
    bins: dict[int, int] = {}
    for bucket, count in times.items():
        place = floor(BINS * log10(RATIO**bucket * sqrt(RATIO)))
        bins[place] = bins.get(place, 0) + count
    if not bins:
        return Markup("")
    first, last = min(bins) // BINS * BINS, (max(bins) // BINS + 1) * BINS
    marks = [(place - first, _power(place // BINS)) for place in range(first, last + 1, BINS)]
    return _bars([bins.get(place, 0) for place in range(first, last)], marks, "Decisions by think time")


def bank_histogram(shares: Sequence[float]) -> Markup:
    """Draw a histogram of the share of the bank left at the end of a match, by tenths.

    Return an empty string without matches.
    """
    counts = [0] * 10
    for share in shares:
        counts[min(max(int(share * 10), 0), 9)] += 1
    marks = [(place, f"{10 * place} %") for place in (0, 5, 10)]
    return _bars(counts, marks, "Matches by the share of the bank that was left") if shares else Markup("")


def _power(power: int) -> str:
    """Return a power of ten of microseconds in a suitable unit."""
    unit, size = next((unit, size) for unit, size in (("s", 6), ("ms", 3), ("µs", 0)) if power >= size)
    return f"{10 ** (power - size)} {unit}"


def _bars(counts: Sequence[int], marks: Sequence[tuple[int, str]], words: str) -> Markup:
    """Draw a bar for each count. `marks`: labels at the edges between bars, by edge number."""
    wide, most = (BARS - 2 * EDGE) / len(counts), max(*counts, 1)
    bars = "".join(
        f"M{EDGE + wide * place + 0.5:.1f} {TALL}v-{max(TALL * count / most, 1):.1f}h{wide - 1:.1f}V{TALL}z"
        for place, count in enumerate(counts)
        if count
    )
    every = -(-len(marks) // 4)
    labels = Markup("").join(
        _label(EDGE + wide * place, TALL + 16, "middle", text) for place, text in [*marks][::every]
    )
    return Markup(
        '<svg class="bars" viewBox="0 0 {} {}" width="{}" role="img"><title>{}: {} in all, at most {} in a bar</title>'
        '<path class="full" d="{}"/><path d="M{} {}H{}" stroke="currentColor"/>{}</svg>'
    ).format(BARS, TALL + 20, BARS, words, sum(counts), max(counts), bars, EDGE, TALL, BARS - EDGE, labels)
