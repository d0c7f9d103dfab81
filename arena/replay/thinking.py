"""How a bot used its time in a match, in figures that add up over matches. Who was to blame, `timeline` tells."""

from __future__ import annotations

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
    for event, effects in entries:
        if type(event) is Sent:
            started[event.decision] = event.at + min(event.lag, policy.lag_allowance)
        elif type(event) is Acted and not _refused(event, effects):
            own[event.seat] += 1
            if event.decision in started:
                times[event.seat].append(max(0, event.at - started[event.decision]))
        for effect in effects:
            if type(effect) is Ask or type(effect) is Force:
                asked[effect.decision] = effect.seat
    made = [0] * seats
    for seat in asked.values():
        made[seat] += 1
    return tuple(Thinking(made[seat], made[seat] - own[seat], tuple(times[seat])) for seat in range(seats))


def _refused(event: Acted, effects: Iterable[object]) -> bool:
    return any(type(effect) is Refuse and effect.decision == event.decision for effect in effects)
