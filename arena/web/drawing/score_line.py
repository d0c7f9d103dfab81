"""The scores of a match from its first step to its last, as lines under the slider, with marks for notable steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup

from arena.replay.steps import Course

WIDTH: Final = 1000
HEIGHT: Final = 100
EDGE: Final = 8
"""Empty margin above and below the lines; the marks are in it."""


def score_line(course: Course, forced: Iterable[int], costly: Iterable[int]) -> Markup:
    """Draw each seat's score by step, and marks for rounds, forced choices and costly ones.

    The drawing is hidden from screen readers, because the words beside the table contain the scores. The style sheet
    stretches it and sets the colours. So marks are drawn as ends of strokes, which are not stretched.
    """
    last = max(len(course.steps) - 1, 1)
    scores = [tuple(0 for _ in course.replay.header.bots), *(report.scores for report in course.reports)]
    flat = [each for row in scores for each in row]
    low, high = min(flat), max(*flat, min(flat) + 1)

    def x(step: int) -> float:
        return WIDTH * step / last

    def y(score: int) -> float:
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (score - low) / (high - low)

    rounds = "".join(f"M{x(course.ends(number)):.1f} 0V{HEIGHT}" for number in range(course.rounds - 1))
    parts = [f'<path class="rounds" d="{rounds}"/>']
    for seat in range(len(course.replay.header.bots)):
        path = f"M0 {y(0):.1f}" + "".join(
            f"H{x(course.ends(number)):.1f}V{y(row[seat]):.1f}" for number, row in enumerate(scores[1:])
        )
        parts.append(f'<path class="line of-seat-{seat}" d="{path}"/>')
    parts += _marks("forced", [x(step - 1) for step in forced], HEIGHT - EDGE / 2)
    parts += _marks("costly", [x(step - 1) for step in costly], EDGE / 2)
    return Markup(
        '<svg class="scores" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(WIDTH, HEIGHT, Markup("".join(parts)))  # noqa: S704 - numbers only


def _marks(name: str, places: Sequence[float], y: float) -> list[str]:
    if not places:
        return []
    return [f'<path class="mark {name}" d="{"".join(f"M{each:.1f} {y:g}h0" for each in places)}"/>']
