"""What a game's renderer can draw."""

from __future__ import annotations

from typing import Protocol

from rich.console import RenderableType

from arena.replay.steps import Course


class Renderer(Protocol):
    """Draws one game. `seat` is who looks and sees what that seat knew then; None sees everything.

    Rounds and tricks count from 0 and exist.
    """

    def tricks(self, course: Course, number: int) -> int:
        """How many tricks of a round were begun."""

    def rounds(self, course: Course) -> RenderableType:
        """The points of the rounds that were played out."""

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """One round: hands, predictions or bids, and tricks."""

    def trick(self, course: Course, number: int, trick: int, seat: int | None) -> RenderableType:
        """One trick of a round."""

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """The position at a step, and what led to it."""
