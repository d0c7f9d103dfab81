"""A live rating over a bot's matches as SVG: a line with its 95 % band, and labels at round ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import RatedRow

WIDTH: Final = 720
HEIGHT: Final = 200
LEFT: Final = 44
"""Units for the labels."""


def rating_curve(rows: Sequence[RatedRow]) -> Markup:
    """Draw a bot's live rating after each of at least two matches, in their order; nothing for fewer."""
    if len(rows) < 2:
        return Markup("")
    lows = [row.after - CONFIDENCE * row.deviation for row in rows]
    highs = [row.after + CONFIDENCE * row.deviation for row in rows]
    # The first matches' bands are very wide: the scale fits the later three quarters, and the line always.
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
