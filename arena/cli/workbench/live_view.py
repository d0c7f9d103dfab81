"""A game that is being played, as a picture in a terminal or as lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Group
from rich.text import Text

from arena.replay.render.show import show_round, show_step

if TYPE_CHECKING:
    from rich.console import Console

    from arena.replay.steps import Course

View: TypeAlias = "Callable[[Course], None]"
"""Function that draws a game after a choice."""


@contextmanager
def pictures(console: Console, seat: int | None, delay: float) -> Iterator[View]:
    """Draw each position over the one before; in a terminal. Each stays for `delay` seconds."""
    with console.screen() as page:

        def draw(course: Course) -> None:
            header, number = course.replay.header, len(course.steps)
            eyes = "all hands" if seat is None else f"as seat {seat}, {header.bots[seat].name}"
            title = Text.assemble(
                (f" {header.game.title} ", "reverse"), f" choice {number - 1} · {eyes} · Ctrl-C ends it"
            )
            page.update(Group(title, Text(), show_step(course, number, seat)))
            time.sleep(delay)

        yield draw


def lines(console: Console, seat: int | None, delay: float) -> View:
    """Print a line for each choice, or what one seat knows of each round at its end; then the points of the round."""

    def draw(course: Course) -> None:
        header, step = course.replay.header, course.steps[-1]
        if step.made is None:
            return
        if seat is None:
            who = f"{header.bots[step.made.seat].name} (seat {step.made.seat})"
            console.print(f"round {step.round + 1}: {who}: {header.game.actions[step.made.action].name}", markup=False)
        if step.ended is not None:
            if seat is not None:
                console.print(show_round(course, step.round + 1, seat))
            points = ", ".join(f"{points:+d}" for points in step.ended.points)
            scores = ", ".join(map(str, step.ended.scores))
            console.print(f"round {step.round + 1} by seat: {points}; in all {scores}", markup=False)
        time.sleep(delay)

    return draw
