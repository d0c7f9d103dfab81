"""How a bot used its time in a match, in figures that add up over matches. Who was to blame, `timeline` tells."""

from __future__ import annotations

from typing import NamedTuple

from arena.match.inputs import Acted, Sent


class Thinking(NamedTuple):
    """The decisions of one seat."""

    decisions: int
    missed: int
    """Those that the server or a house bot made in its bot's place."""
    times: tuple[int, ...]
    """Of those the bot made itself: microseconds on its clock, from the sending, less the round trip, to the answer."""


class _Seat:
    """What is known of a seat."""

    __slots__ = ("decision", "due", "own", "sent", "since", "times")

    def __init__(self) -> None:
        self.decision = 0  # its latest: it never has two at once
        self.due = 0
        self.own = 0
        self.sent = 0  # the latest that was sent
        self.since = 0  # the instant from which its clock runs
        self.times: list[int] = []


class Stopwatch:
    """Takes the times of a match. A house bot is never sent anything: it has none."""

    __slots__ = ("_allowance", "_seats")

    def __init__(self, seats: int, allowance: int) -> None:
        """Of a match about to begin; so many microseconds of a round trip are taken off."""
        self._allowance = allowance
        self._seats = [_Seat() for _ in range(seats)]

    def due(self, number: int, decision: int) -> None:
        """A decision is put to a seat, maybe again, or made for it."""
        seat = self._seats[number]
        if seat.decision != decision:
            seat.decision = decision
            seat.due += 1

    def sent(self, event: Sent) -> None:
        """A decision was handed to the transport; one that is not due to that seat does not count."""
        if 0 <= event.seat < len(self._seats):
            seat = self._seats[event.seat]
            if seat.decision == event.decision:
                seat.sent = event.decision
                seat.since = event.at + min(event.lag, self._allowance)

    def made(self, event: Acted) -> None:
        """A bot made a decision; the next may be due already."""
        seat = self._seats[event.seat]
        seat.own += 1
        if seat.sent == event.decision:
            seat.times.append(max(0, event.at - seat.since))

    def thinking(self) -> tuple[Thinking, ...]:
        """The figures so far, by seat."""
        return tuple([Thinking(seat.due, seat.due - seat.own, tuple(seat.times)) for seat in self._seats])
