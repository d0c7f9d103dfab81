"""How a bot used its time in a match, in figures that add up over matches. Who was to blame, `timeline` tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from arena.match.effects import Ask, Force, Refuse
from arena.match.inputs import Acted, Sent
from arena.match.policy import Policy
from arena.replay.header import Entry


class Thinking(NamedTuple):
    """The decisions of one seat."""

    decisions: int
    missed: int
    """Those that the server or a house bot made in its bot's place."""
    times: tuple[int, ...]
    """Of those the bot made itself: microseconds on its clock, from the sending, less the round trip, to the answer."""


def thinking(entries: Iterable[Entry], seats: int, policy: Policy) -> tuple[Thinking, ...]:
    """By seat, from what happened in a match. A house bot is never sent anything: it has no times."""
    asked: dict[int, int] = {}  # decision → seat
    started: dict[int, int] = {}  # decision → the instant from which its clock runs
    own = [0] * seats
    times: list[list[int]] = [[] for _ in range(seats)]
    allowance = policy.lag_allowance
    for event, effects in entries:  # every decision of every match comes by here
        refused = False
        for effect in effects:
            if type(effect) is Ask or type(effect) is Force:
                asked[effect.decision] = effect.seat
            elif type(effect) is Refuse:
                refused = True
        if type(event) is Sent:
            at, _, decision, lag = event
            started[decision] = at + min(lag, allowance)
        elif type(event) is Acted and not refused:
            at, seat, decision, _ = event
            own[seat] += 1
            if (since := started.get(decision)) is not None:
                times[seat].append(at - since if at > since else 0)
    made = Counter(asked.values())
    return tuple(Thinking(made[seat], made[seat] - own[seat], tuple(times[seat])) for seat in range(seats))
