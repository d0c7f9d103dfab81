"""A seat at the keyboard: shows what the seat knows, lists what it may choose, and reads a number."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.text import Text

from arena.local.errors import SeatLeft
from arena.replay.render.show import show_step

if TYPE_CHECKING:
    from rich.console import Console

    from arena.replay.steps import Course
    from arena.server.sessions.messages import Outgoing, Question


class KeyboardSeat:
    """A person; implements `LocalPlayer`."""

    name = "human"
    version = ""

    def __init__(self, console: Console, course: Callable[[], Course]) -> None:
        """`course` gives the positions so far."""
        self._console = console
        self._course = course
        self._seat = 0

    def begin(self, key: bytes, seat: int) -> None:
        self._seat = seat

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        """Ask for each choice at the keyboard.

        Raises:
            SeatLeft: the input ended.
        """
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
                raise SeatLeft(self._seat)
            typed = line.strip()
            if typed.isascii() and typed.isdecimal() and 1 <= int(typed[:9]) <= len(legal):
                return legal[int(typed) - 1]
            self._console.print(f"{typed!r} is not a number from 1 to {len(legal)}.", markup=False)
