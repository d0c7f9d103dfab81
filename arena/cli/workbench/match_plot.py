"""The differences of a match as they went from set to set, drawn into a file."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.terminal.plot import Point, plot
from arena.cli.terminal.svg import draw_svg
from arena.local.match.comparison import within
from arena.local.match.sequential import LEAST_SETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.local.match.ordered_sets import OrderedPairs
    from arena.local.match.sets import Subject

WIDTH: Final = 100
HEIGHT: Final = 18


def plot_match(file: Path, subject: Subject, ordered: OrderedPairs) -> None:
    """Draw each pair with enough sets. Raises: OSError."""
    parts: list[RenderableType] = []
    for each in ordered.pairs:
        one, other = each.names
        parts.append(Text(f"{one} against {other}: points, the mean of the sets so far with its 95 % interval", "bold"))
        points = running(each.scores)
        if points:
            parts += [plot(points, WIDTH, HEIGHT, LEAST_SETS), Text()]
        else:
            parts.append(Text(f"{len(each.scores)} sets are too few to draw: it takes {LEAST_SETS}\n", "yellow"))
    draw_svg(file, f"arena match · {subject.game} for {subject.seats}", Group(*parts), WIDTH)


def running(scores: Sequence[float]) -> list[Point]:
    """Return the mean after each set, from the first that says anything on, with the half width of its interval."""
    points, total, squares = [], 0.0, 0.0
    for count, score in enumerate(scores, start=1):
        total += score
        squares += score * score
        if count >= LEAST_SETS:
            mean = total / count
            variance = max(0.0, squares - total * mean) / (count - 1)
            points.append(Point(mean, within(count) * sqrt(variance / count)))
    return points
