"""Display of a running game, as a picture in a terminal or as lines, and a seat at the keyboard."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from rich.columns import Columns
from rich.console import Console, Group
from rich.text import Text

from arena.local.errors import LocalMatchError
from arena.replay.render.show import show_round, show_step
from arena.replay.steps import Course

if TYPE_CHECKING:
    from arena.server.sessions.messages import Outgoing, Question

View: TypeAlias = "Callable[[Course], None]"
"""Function that draws a game after a choice."""


@contextmanager
def pictures(console: Console, seat: int | None, delay: float) -> Iterator[View]:
    """Draw each position over the previous one in a terminal. Each is shown for `delay` seconds."""
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
    """Print each choice as a line, or each round as `seat` saw it; after each round, print its points."""

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


class KeyboardSeat:
    """The seat of a person at the keyboard. The class implements `LocalPlayer`."""

    name = "human"
    version = ""

    def __init__(self, console: Console, course: Callable[[], Course]) -> None:
        """`course` returns the positions so far."""
        self._console = console
        self._course = course
        self._seat = 0

    def begin(self, key: bytes, seat: int) -> None:
        self._seat = seat

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        """Ask for each choice at the keyboard. Raises: LocalMatchError: The input ended."""
        for question in message.questions:
            yield question.ask.decision, self._choose(question)

    def _choose(self, question: Question) -> int:
        course, legal = self._course(), tuple(question.ask.legal)
        actions = course.replay.header.game.actions
        self._console.print()
        self._console.print(show_step(course, len(course.steps), self._seat))
        self._console.print()
        if len(legal) == 1:
            self._console.print(f"You have one choice only: {actions[legal[0]].name}", markup=False)
            return legal[0]
        self._console.print(
            Columns([Text(f"{number} {actions[each].name}") for number, each in enumerate(legal, 1)], padding=(0, 2))
        )
        while True:
            self._console.print(f"Your choice, 1 to {len(legal)}: ", end="")
            self._console.file.flush()
            line = sys.stdin.readline()
            if not line:
                raise LocalMatchError(f"the input for seat {self._seat} has ended before the game: nobody continues it")
            typed = line.strip()
            if typed.isascii() and typed.isdecimal() and 1 <= int(typed[:9]) <= len(legal):
                return legal[int(typed) - 1]
            self._console.print(f"{typed!r} is not a number from 1 to {len(legal)}.", markup=False)
