"""A line plot with an error band in characters: Braille dots for the line, shading for the band."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

from rich.text import Text

DOTS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a Braille character's dots, by column and row from the top."""
BRAILLE: Final = 0x2800
ACROSS: Final = 2
DOWN: Final = 4
"""Number of columns and of rows of dots in a Braille character."""
SPACING: Final = 4
"""Approximate number of rows between two labels."""


class Point(NamedTuple):
    """A value and its error margin to either side."""

    value: float
    margin: float


class _Scale(NamedTuple):
    """The vertical scale: the number of dot rows, and the values at the lowest and the highest row."""

    low: float
    high: float
    dots: int

    def dot(self, value: float) -> int:
        """Return the dot row of a value, counted from the top. It may be outside the plot."""
        return round((self.high - value) / (self.high - self.low) * (self.dots - 1))


def plot(points: Sequence[Point], width: int, height: int, first: int = 1) -> Text:
    """Plot one or more points, numbered from `first`. The band may be clipped.

    The plot takes `width` columns and `height` rows, labels included.
    """
    margin = median(point.margin for point in points)
    low = min(point.value for point in points) - max(margin, 1)
    high = max(point.value for point in points) + max(margin, 1)
    ticks = _ticks(low, high, max(2, height // SPACING))
    left = max(len(str(tick)) for tick in ticks)
    columns, rows = max(width - left - 2, 1), max(height - 2, 1)
    scale = _Scale(low, high, rows * DOWN)
    cells = _line(points, scale, columns)
    labels = {scale.dot(tick) // DOWN: str(tick) for tick in ticks}
    text = Text(no_wrap=True)
    for row in range(rows):
        text.append(f"{labels.get(row, ''):>{left}} {'┤' if row in labels else '│'}", style="dim")
        for column in range(columns):
            if bits := cells[row][column]:
                text.append(chr(BRAILLE | bits), style="bold green")
            else:
                inside = _inside(points, scale, row, column, columns)
                text.append("░" if inside else " ", style="dim green")
        text.append("\n")
    text.append(f"{'':{left}} └{'─' * columns}\n", style="dim")
    last = str(first + len(points) - 1) if len(points) > 1 else ""
    text.append(f"{'':{left}}  {first}{last:>{columns - len(str(first))}}", style="dim")
    return text


def _line(points: Sequence[Point], scale: _Scale, columns: int) -> list[list[int]]:
    """Return each cell's Braille bits for the dots on the line, by row and column."""
    cells = [[0] * columns for _ in range(scale.dots // DOWN)]
    across = columns * ACROSS
    for x in range(across):
        passed = [scale.dot(value) for value in _values(points, x / across, (x + 1) / across)]
        for y in range(min(passed), max(passed) + 1):
            cells[y // DOWN][x // ACROSS] |= DOTS[x % ACROSS][y % DOWN]
    return cells


def _values(points: Sequence[Point], begin: float, end: float) -> list[float]:
    """Return the line's values at two positions from 0 to 1 and at all points between them."""
    last = len(points) - 1
    between = points[int(begin * last) + 1 : int(end * last) + 1]
    return [_at(points, begin).value, *(point.value for point in between), _at(points, end).value]


def _at(points: Sequence[Point], place: float) -> Point:
    """Interpolate line and band at a position from 0 to 1."""
    where = place * (len(points) - 1)
    before = min(int(where), max(len(points) - 2, 0))
    share = where - before
    first, second = points[before], points[min(before + 1, len(points) - 1)]
    return Point(*(one + share * (other - one) for one, other in zip(first, second, strict=True)))


def _inside(points: Sequence[Point], scale: _Scale, row: int, column: int, columns: int) -> bool:
    """Return True if the middle of a cell is in the band."""
    here = _at(points, (column + 0.5) / columns)
    top, bottom = scale.dot(here.value + here.margin), scale.dot(here.value - here.margin)
    return top <= row * DOWN + DOWN // 2 <= bottom


def _ticks(low: float, high: float, most: int) -> list[int]:
    """Return between one and `most` round numbers from low to high."""
    step, size = 1, 1
    while high // step - low // step > most:
        step = next((size * digit for digit in (1, 2, 5) if size * digit > step), 10 * size)
        size = 10 * size if step == 10 * size else size
    first = -int(-low // step)
    return [step * number for number in range(first, int(high // step) + 1)] or [round((low + high) / 2)]
