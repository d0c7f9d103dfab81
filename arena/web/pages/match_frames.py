"""One step of a match as HTML: the drawn table, and beside it in words what happened and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.queries.figures import CONFIDENCE
from arena.replay.render.show import in_plain_text, show_step, step_words, table_scene
from arena.replay.render.table_svg import table_svg
from arena.replay.steps import Course
from arena.web.answers.responses import fragment


class LegalActions(NamedTuple):
    """The actions that one seat may choose at a step."""

    seat: int
    bot: str
    next_round: bool
    """True if the choice belongs to the next round."""
    actions: tuple[str, ...]
    chosen: str
    """The action that the seat chose next; empty if it chose none."""


def frame(course: Course, index: int, seat: int | None, costly: Mapping[int, Mapping[str, Any]]) -> str:
    """Return a step as HTML, as one seat saw it or with all hands open."""
    scene, words = table_scene(course, index, seat), step_words(course, index, seat)
    after = (_cost(costly.get(index)), _legal(course, index, seat))
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


def _legal(course: Course, index: int, seat: int | None) -> list[LegalActions]:
    """List the legal actions by seat; if one seat is shown, only that seat's actions."""
    step, header = course.steps[index - 1], course.replay.header
    names = header.game.actions
    following = {each.made.seat: each.made.action for each in reversed(course.steps[index:]) if each.made is not None}
    return [
        LegalActions(
            owing,
            header.bots[owing].name,
            step.ended is not None,
            tuple(names[action].name for action in step.state.legal(owing)),
            names[following[owing]].name if owing in following else "",
        )
        for owing in step.state.waiting()
        if seat in (None, owing)
    ]
