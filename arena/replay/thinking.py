# Compiled: every decision passes through here.
"""Thinking times of a match's bots, as sums that can be added over matches. They do not attribute blame."""

from __future__ import annotations

from typing import NamedTuple

from arena.match.inputs import Acted, Sent


class Thinking(NamedTuple):
    """Decisions and thinking times of one seat."""

    decisions: int
    """Number of decisions that were due."""
    missed: int
    """Number of decisions that the server or a house bot made in the bot's place."""
    times: tuple[int, ...]
    """Thinking times of the bot's own decisions in microseconds on its clock: from sending to answer, minus the round
    trip up to the lag allowance.
    """


class _Seat:
    """Counts and times of one seat."""

    __slots__ = ("decision", "due", "own", "sent", "since", "times")

    def __init__(self) -> None:
        self.decision = 0  # the seat's latest decision; a seat never has two open at once
        self.due = 0
        self.own = 0
        self.sent = 0  # the seat's latest decision that was sent to the bot
        self.since = 0  # the time from which the seat's clock runs
        self.times: list[int] = []


class Stopwatch:
    """A stopwatch for the thinking times of a match. House bots have none, because they receive no messages."""

    __slots__ = ("_lag_allowance", "_seats")

    def __init__(self, seats: int, lag_allowance: int) -> None:
        """Begin a match. At most `lag_allowance` microseconds of a round trip are subtracted."""
        self._lag_allowance = lag_allowance
        self._seats = [_Seat() for _ in range(seats)]

    def due(self, number: int, decision: int) -> None:
        """Count a decision that a seat owes or that is made for it. Count a repeated question once."""
        seat = self._seats[number]
        if seat.decision != decision:
            seat.decision = decision
            seat.due += 1

    def sent(self, event: Sent) -> None:
        """Start the clock for a decision whose question was sent. Ignore the event if the seat does not owe that
        decision.
        """
        if 0 <= event.seat < len(self._seats):
            seat = self._seats[event.seat]
            if seat.decision == event.decision:
                seat.sent = event.decision
                seat.since = event.at + min(event.lag, self._lag_allowance)

    def made(self, event: Acted) -> None:
        """Stop the clock for a decision that a bot made itself. The seat's next decision may already be due."""
        seat = self._seats[event.seat]
        seat.own += 1
        if seat.sent == event.decision:
            seat.times.append(max(0, event.at - seat.since))

    def thinking(self) -> tuple[Thinking, ...]:
        """Return the figures so far, by seat."""
        return tuple([Thinking(seat.due, seat.due - seat.own, tuple(seat.times)) for seat in self._seats])

    def due_so_far(self) -> list[int]:
        """Return the number of decisions so far, by seat."""
        return [seat.due for seat in self._seats]
