# Compiled: every decision comes by here.
"""The round-trip time to a bot: the shortest of its recent answers' times.

A bot can only answer later than it might, never sooner, so the shortest of many times is the nearest to the truth and
nothing is gained by being late: not by heartbeats answered late, nor only between thoughts. The answer to a decision
bounds the way as well as that to a heartbeat; so does what the operating system has measured, which no bot program
answers.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

ROUND_TRIPS: Final = 9
"""Answered heartbeats that the shortest time is looked for in, each with the answers since the one before."""
MOST_UNANSWERED: Final = 9
"""Heartbeats whose answers may still come; older ones are forgotten."""


class RoundTrip:
    """The round trip of one session. Times in seconds, numbers of heartbeats in microseconds."""

    __slots__ = ("_latest", "_sent", "_shortest", "seconds")

    def __init__(self) -> None:
        self.seconds: float | None = None
        """The round trip; None before the first heartbeat is answered."""
        self._sent: deque[int] = deque(maxlen=MOST_UNANSWERED)
        self._latest: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._shortest = math.inf  # of the answers since the latest heartbeat's

    def beat(self, now: float) -> int:
        """Return the number of a heartbeat that is sent at an instant."""
        number = round(now * 1e6)
        self._sent.append(number)
        return number

    def beaten(self, at: float, number: int, acknowledged: float | None) -> None:
        """Measure by the answer to a heartbeat; a number that was not sent, or is answered already, says nothing.

        `acknowledged`: the shortest time in which the bot's system acknowledged bytes of late; None if it is not known.
        """
        if number not in self._sent:
            return
        while self._sent.popleft() != number:
            pass
        trip = min(max(0.0, at - number / 1e6), self._shortest)
        self._latest.append(trip if acknowledged is None else min(trip, acknowledged))
        self._shortest = math.inf
        self.seconds = min(self._latest)

    def answered(self, took: float) -> None:
        """Note that a decision was answered so long after it was sent."""
        if took < self._shortest:
            self._shortest = took
            if self.seconds is not None and took < self.seconds:
                self.seconds = took
