"""One step of a match as HTML: the drawn table, and a description of what happened and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.queries.figures import CONFIDENCE
from arena.replay.render.show import in_plain_text, show_step, step_words, table_scene
from arena.replay.render.table_svg import table_svg
from arena.replay.steps import Course, legal_actions
from arena.web.answers.responses import fragment


def frame(course: Course, index: int, seat: int | None, costly: Mapping[int, Mapping[str, Any]]) -> str:
    """Return a step as HTML, as one seat saw it or with all hands open."""
    scene, words = table_scene(course, index, seat), step_words(course, index, seat)
    after = (_cost(costly.get(index)), legal_actions(course, index, seat))
    if scene is None or words is None:
        return fragment("board.html", "in_words", in_plain_text(show_step(course, index, seat)), *after)
    drawn = table_svg(scene, f"The table at step {index}")
    return fragment("board.html", "frame", drawn, scene, words, *after)


def _cost(choice: Mapping[str, Any] | None) -> str:
    """Describe the cost of the choice that led to a step; empty if the analysis has none."""
    if choice is None:
        return ""
    margin = CONFIDENCE * choice["error"]
    cost = f"{choice['cost']:.1f} ± {margin:.1f} points"
    return f"This choice, {choice['name']}, cost {cost} against {choice['better_name']}."
