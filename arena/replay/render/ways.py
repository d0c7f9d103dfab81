"""The ways through a replay: the steps that its controls lead to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from arena.replay.render.show import stops
from arena.replay.steps import Course


class Ways:
    """The steps to which the controls of a replay lead. Steps are numbered from 1."""

    def __init__(self, course: Course) -> None:
        self._last = len(course.steps)
        self._parts = [stop + 1 for stop in stops(course)]
        self.rounds = [course.begins(each) + 1 for each in range(course.rounds)]
        """The step with which each round begins."""
        self.forced = [place for place, each in enumerate(course.steps, 1) if each.made and each.made.forced]
        """The steps of choices that the server or a house bot made."""

    def at(self, index: int, costly: Sequence[int] = ()) -> dict[str, int | None]:
        """Return the steps that the controls lead to at a step, by the control's name; None for one that leads nowhere.

        `costly`: the steps of the costliest choices, in order.
        """
        return {
            "first": 1 if index > 1 else None,
            "previous round": _before(self.rounds, index),
            "previous part": _before(self._parts, index),
            "previous": index - 1 or None,
            "next": index + 1 if index < self._last else None,
            "next part": _after(self._parts, index),
            "next round": _after(self.rounds, index),
            "last": self._last if index < self._last else None,
            "next forced": _after(self.forced, index),
            "next costly": _after(costly, index),
        }


def _before(places: Sequence[int], index: int) -> int | None:
    at = bisect_left(places, index)
    return places[at - 1] if at else None


def _after(places: Sequence[int], index: int) -> int | None:
    at = bisect_right(places, index)
    return places[at] if at < len(places) else None
