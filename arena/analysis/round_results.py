"""The result of each finished round of a match: the points of each seat, and whether it kept its bid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.replay.render.show import renderer_of
from arena.replay.steps import Course


class RoundResult(NamedTuple):
    """One round of a match, by seat."""

    points: tuple[int, ...]
    kept: tuple[bool, ...]
    """True if the seat took the tricks that it had bid or predicted; empty in a game without bids."""


def round_results(course: Course) -> tuple[RoundResult, ...]:
    """Return the results of the finished rounds, in order. Raises: ShowError."""
    renderer = renderer_of(course.replay.header.game)
    return tuple(
        [RoundResult(tuple(renderer.worth(each)), tuple(renderer.kept(each) or ())) for each in course.reports]
    )


def bids_kept(rounds: Iterable[RoundResult], seats: Sequence[int]) -> list[bool]:
    """Return for each bid of these seats whether it was fulfilled."""
    return [each.kept[seat] for each in rounds for seat in seats if each.kept]
