"""Navigation in a replay: the steps to which its controls lead, and the speed of playback."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from arena.replay.render.picture import PLAYS
from arena.replay.render.show import stops
from arena.replay.steps import Course


class Ways:
    """The steps to which the controls of a replay lead. Steps are numbered from 1."""

    def __init__(self, course: Course) -> None:
        self._last = len(course.steps)
        self._parts = [stop + 1 for stop in stops(course)]
        self.rounds = [course.begins(each) + 1 for each in range(course.rounds)]
        """The first step of each round."""
        self.forced = [place for place, each in enumerate(course.steps, 1) if each.made and each.made.forced]
        """The steps of choices that the server or a house bot made."""

    def at(self, index: int, costly: Sequence[int] = ()) -> dict[str, int | None]:
        """Return, for each control, the step to which it leads from a given step. None if it has no effect there.

        `costly` are the steps of the costliest choices, in order.
        """
        return {
            "first": 1 if index > 1 else None,
            "previous round": before(self.rounds, index),
            "previous part": before(self._parts, index),
            "previous": index - 1 or None,
            "next": index + 1 if index < self._last else None,
            "next part": after(self._parts, index),
            "next round": after(self.rounds, index),
            "last": self._last if index < self._last else None,
            "next forced": after(self.forced, index),
            "next costly": after(costly, index),
        }


def before(places: Sequence[int], index: int) -> int | None:
    """Return the last of these places before a step, if there is one."""
    at = bisect_left(places, index)
    return places[at - 1] if at else None


def after(places: Sequence[int], index: int) -> int | None:
    """Return the first of these places after a step, if there is one."""
    at = bisect_right(places, index)
    return places[at] if at < len(places) else None


STEP: Final = 900
"""Maximum number of milliseconds for a step."""
ROUND: Final = 34_000
"""Maximum number of milliseconds for a round, including pauses."""
REST: Final = 2
"""Pause at the end of a trick, in steps."""
LONG_REST: Final = 4
"""Pause at the end of a round, in steps."""
END: Final = 6_000
"""Milliseconds for which the result of the match is shown."""


def pace(course: Course) -> Sequence[int]:
    """Return the number of milliseconds for which each step is shown.

    Bids and predictions appear together: only the last one is shown for as long as a card.
    """
    actions, ends = course.replay.header.game.actions, {*stops(course)}
    made = [None if step.made is None else actions[step.made.action].kind for step in course.steps]
    weights = [
        0 if kind is not None and kind not in PLAYS and following not in {None, *PLAYS} else 1
        for kind, following in zip(made, [*made[1:], None], strict=True)
    ]
    for place, step in enumerate(course.steps):
        if step.ended is not None:
            weights[place] = LONG_REST
        elif place in ends:
            weights[place] = REST
    found = [STEP] * len(weights)
    for number in range(course.rounds):
        first, last = course.begins(number) + (number > 0), course.ends(number)
        one = min(STEP, ROUND // max(sum(weights[first : last + 1]), 1))
        found[first : last + 1] = [one * weight for weight in weights[first : last + 1]]
    return [*found[:-1], END]
