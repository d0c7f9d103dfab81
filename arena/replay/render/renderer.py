"""The interface of a game's renderer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.console import RenderableType

from arena.replay.render.table_scene import TableScene
from arena.replay.steps import Course
from engine.game import RoundReport


class Renderer(Protocol):
    """Renderer of one game. It shows what `seat` knew at that step, or all hands if `seat` is None.

    Rounds and steps are numbered from 0, and callers pass existing ones only. A game divides its rounds into parts,
    such as tricks or betting rounds; a round without parts is one part.
    """

    def kept(self, report: RoundReport) -> Sequence[bool] | None:
        """Return by seat whether it took the tricks that it had bid or predicted; None in a game without bids."""

    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return what a round brought by seat, in points, with all that it costs at the end of the game."""

    @property
    def part(self) -> str:
        """Word for a part of a round, such as "trick"; its plural is formed with s."""

    def stops(self, course: Course, number: int) -> Sequence[int]:
        """Return the last step of each part of a round, in order; the last part may be unfinished."""

    def rounds(self, course: Course) -> RenderableType:
        """Draw the points of the finished rounds."""

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """Draw one round with all its choices."""

    def passage(self, course: Course, stop: int, seat: int | None) -> RenderableType:
        """Draw the part of a round that ends with a step of `stops`."""

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """Draw the position at a step and the choice that led to it."""

    def table(self, course: Course, index: int, seat: int | None) -> TableScene | None:
        """Return what lies on the table at a step; None for a game that has no tricks."""
