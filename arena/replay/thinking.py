"""How a bot used its time in a match, in figures that add up over matches. Who was to blame, `timeline` tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.match.effects import Ask, Effect, Force, Refuse
from arena.match.inputs import Acted, Input, Sent


class Thinking(NamedTuple):
    """The decisions of one seat."""

    decisions: int
    missed: int
    """Those that the server or a house bot made in its bot's place."""
    times: tuple[int, ...]
    """Of those the bot made itself: microseconds on its clock, from the sending, less the round trip, to the answer."""


class Stopwatch:
    """Takes the times of a match. A house bot is never sent anything: it has none."""

    __slots__ = ("_allowance", "_asked", "_due", "_own", "_started", "_times")

    def __init__(self, seats: int, allowance: int) -> None:
        """Of a match about to begin; so many microseconds of a round trip are taken off."""
        self._allowance = allowance
        self._asked = [0] * seats  # a seat's latest decision: it never has two at once
        self._due = [0] * seats
        self._own = [0] * seats
        self._started: dict[int, int] = {}  # open decision → the instant from which its clock runs
        self._times: list[list[int]] = [[] for _ in range(seats)]

    def add(self, event: Input, effects: Sequence[Effect]) -> None:
        """One input and the effects it had."""
        refused = False
        for effect in effects:
            if type(effect) is Ask or type(effect) is Force:
                seat = effect.seat
                if self._asked[seat] != effect.decision:
                    self._asked[seat] = effect.decision
                    self._due[seat] += 1
            elif type(effect) is Refuse:
                refused = True
        if type(event) is Sent:
            self._started[event.decision] = event.at + min(event.lag, self._allowance)
        elif type(event) is Acted and not refused:
            self._own[event.seat] += 1
            if (since := self._started.pop(event.decision, None)) is not None:
                self._times[event.seat].append(max(0, event.at - since))

    def thinking(self) -> tuple[Thinking, ...]:
        """The figures so far, by seat."""
        seats = zip(self._due, self._own, self._times, strict=True)
        return tuple(Thinking(due, due - own, tuple(times)) for due, own, times in seats)
