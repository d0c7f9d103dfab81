"""Interactive view of a replay: stepping through it with keys."""

from __future__ import annotations

import os
import re
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from arena.replay.render.show import part_name, show_match, show_step, stops
from arena.replay.render.ways import after, before
from arena.replay.steps import Course

KEYS: Final = {
    "\x1b[C": "next", "\x1bOC": "next", "n": "next", " ": "next", "\r": "next", "\n": "next",
    "\x1b[D": "previous", "\x1bOD": "previous", "p": "previous", "\x7f": "previous",
    "\x1b[B": "next part", "\x1bOB": "next part", "t": "next part",
    "\x1b[A": "previous part", "\x1bOA": "previous part", "T": "previous part",
    "\x1b[6~": "next round", "r": "next round",
    "\x1b[5~": "previous round", "R": "previous round",
    "\x1b[H": "first", "\x1b[1~": "first", "g": "first",
    "\x1b[F": "last", "\x1b[4~": "last", "G": "last",
    "s": "seat",
    "q": "quit", "\x1b": "quit", "\x03": "quit", "\x04": "quit",
}  # fmt: skip
"""The command for each sequence that a terminal sends for a key."""
HELP: Final = "→ ← choice  ↓ ↑ {part}  r R round  g G first, last  s seat  q quit"
_KEY: Final = re.compile(r"\x1b\[\d*[A-Za-z~]|\x1bO[A-Z]|.", re.DOTALL)
"""Pattern of one key. Several keys may arrive in one read."""


class Walk:
    """The current page, and the seat that sees it. Each page is a step; the last page is the result."""

    def __init__(self, course: Course, seat: int | None) -> None:
        self.page = 0
        self.seat = seat
        self.quit = False
        self._course = course
        self._result = len(course.steps)
        self._rounds = [course.begins(number) for number in range(course.rounds)] + [self._result]
        self._parts = [0, *stops(course), self._result]

    def press(self, key: str) -> None:
        """Run the command of a key, if it has one."""
        pages = {
            "next": self.page + 1,
            "previous": self.page - 1,
            "next part": after(self._parts, self.page),
            "previous part": before(self._parts, self.page),
            "next round": after(self._rounds, self.page),
            "previous round": before(self._rounds, self.page),
            "first": 0,
            "last": self._result,
        }
        match KEYS.get(key):
            case "seat":
                following = 0 if self.seat is None else self.seat + 1
                self.seat = following if following < len(self._course.replay.header.bots) else None
            case "quit":
                self.quit = True
            case command:
                page = pages.get(command or "")
                self.page = self.page if page is None else min(max(page, 0), self._result)

    def drawn(self) -> RenderableType:
        """Draw the current page."""
        header = self._course.replay.header
        if self.page == self._result:
            where, content = "result", show_match(self._course)
        else:
            where = f"position {self.page + 1} of {self._result}"
            content = show_step(self._course, self.page + 1, self.seat)
        eyes = "all hands" if self.seat is None else f"as seat {self.seat}, {header.bots[self.seat].name}"
        title = Text.assemble((f" {header.game.title}, match {header.match_id} ", "reverse"), f" {where} · {eyes}")
        return Group(title, Text(f" {HELP.format(part=part_name(self._course))}", style="dim"), Text(), content)


def step_through(console: Console, course: Course, seat: int | None) -> None:
    """Show a replay step by step until the user quits. Raises: ShowError: The match has no such seat."""
    walk = Walk(course, seat)
    show_step(course, 1, seat)
    with suppress(KeyboardInterrupt), _keys() as typed, console.screen() as page:
        while not walk.quit:
            page.update(walk.drawn())
            for key in _KEY.findall(typed()):
                walk.press(key)


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """Put the terminal in cbreak mode for this block. Yield a function that waits for keys and returns them."""
    terminal = sys.stdin.fileno()
    usual = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    attributes = termios.tcgetattr(terminal)
    attributes[6][termios.VINTR] = b"\0"  # Ctrl-C is a key: a signal shortly before os.read() would not end the read
    termios.tcsetattr(terminal, termios.TCSADRAIN, attributes)
    try:
        yield lambda: os.read(terminal, 1024).decode(errors="ignore") or "q"
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, usual)
