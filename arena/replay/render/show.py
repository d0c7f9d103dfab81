"""Draws a replay: the whole match, a round, a trick or a step, for one seat or with all hands face up.

Rounds, tricks and steps are numbered as people count, from 1, and from the end with −1, −2 …; seats are numbered from
0 as everywhere. What comes back is for a Rich console, at least 80 columns wide, with colours or without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import RenderableType

from arena.replay.render.nullern import NullernRenderer
from arena.replay.render.renderer import Renderer
from arena.replay.render.scores import drawn_match
from arena.replay.render.sixth_sense import SixthSenseRenderer
from arena.replay.steps import Course

RENDERERS: Final[Mapping[str, Renderer]] = {
    "nullern": NullernRenderer(),
    "sixth_sense": SixthSenseRenderer(),
}
"""By the game's name."""


class ShowError(LookupError):
    """The replay has no such round, trick, step or seat, or its game no renderer; the message says what there is."""

    def __str__(self) -> str:
        return str(self.args[0])


def show_match(course: Course) -> RenderableType:
    """The result and the points by round. ShowError."""
    return drawn_match(course, _renderer(course).rounds(course))


def show_round(course: Course, number: int = -1, seat: int | None = None) -> RenderableType:
    """One round: hands, predictions or bids, tricks. ShowError."""
    return _renderer(course).round(course, _index("round", number, course.rounds), _seat(course, seat))


def show_trick(course: Course, number: int = -1, trick: int = -1, seat: int | None = None) -> RenderableType:
    """One trick, card by card. ShowError."""
    renderer = _renderer(course)
    in_round = _index("round", number, course.rounds)
    index = _index("trick", trick, renderer.tricks(course, in_round))
    return renderer.trick(course, in_round, index, _seat(course, seat))


def show_step(course: Course, number: int, seat: int | None = None) -> RenderableType:
    """The position after so many choices plus one: step 1 is the first deal. ShowError."""
    return _renderer(course).step(course, _index("step", number, len(course.steps)), _seat(course, seat))


def _renderer(course: Course) -> Renderer:
    game = course.replay.header.game
    if game.name not in RENDERERS:
        where = f"write arena/replay/render/{game.name}.py and name it in arena/replay/render/show.py"
        raise ShowError(f"{game.title} has no renderer to show it: {where}")
    return RENDERERS[game.name]


def _index(what: str, number: int, count: int) -> int:
    if not 1 <= abs(number) <= count:
        has = f"{what}s 1 to {count}" if count else f"no {what}s there"
        raise ShowError(f"the replay has {has}, not {what} {number}")
    return number - 1 if number > 0 else count + number


def _seat(course: Course, seat: int | None) -> int | None:
    seats = len(course.replay.header.bots)
    if seat is not None and not 0 <= seat < seats:
        raise ShowError(f"the replay has seats 0 to {seats - 1}, not seat {seat}")
    return seat
