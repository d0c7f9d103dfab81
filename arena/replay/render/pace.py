"""The pace at which a replay is played: how long each step is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.replay.render.picture import PLAYS
from arena.replay.render.show import stops
from arena.replay.steps import Course

STEP: Final = 900
"""Maximum number of milliseconds for a step."""
ROUND: Final = 34_000
"""Milliseconds that a round may take, rests included."""
REST: Final = 2
"""Rest at the end of a trick, in steps."""
LONG_REST: Final = 4
"""Rest at the end of a round, in steps."""


def pace(course: Course) -> Sequence[int]:
    """Return the milliseconds for which each step is shown.

    Bids and predictions are made at once: only the last one is shown for as long as a card.
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
    return found
