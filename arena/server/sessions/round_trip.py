# Compiled: every decision passes through here.
"""The round-trip time to a bot, estimated as the shortest time of its recent answers.

A bot can answer late but never early, so the shortest measured time is the most accurate. A bot gains nothing from
delaying its answers to heartbeats, because answers to decisions limit the round trip as well. So do the operating
system's own measurements, which no bot program can influence.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

ROUND_TRIPS: Final = 9
"""Number of recent heartbeats whose answers, and the answers to decisions between them, are compared."""
MOST_UNANSWERED: Final = 9
"""Maximum number of heartbeats whose answers are awaited. Older heartbeats are forgotten."""


class RoundTrip:
    """The round-trip time of one session. Times are in seconds; a heartbeat's number is its time in microseconds."""

    __slots__ = ("_latest", "_sent", "_shortest", "seconds")

    def __init__(self) -> None:
        self.seconds: float | None = None
        """The round-trip time; None before the first heartbeat is answered."""
        self._sent: deque[int] = deque(maxlen=MOST_UNANSWERED)
        self._latest: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._shortest = math.inf  # Shortest time since the answer to the latest heartbeat.

    def beat(self, now: float) -> int:
        """Return the number of a heartbeat that is sent now."""
        number = round(now * 1e6)
        self._sent.append(number)
        return number

    def beaten(self, at: float, number: int, acknowledged: float | None) -> None:
        """Apply the answer to a heartbeat as a measurement. Unknown and repeated numbers are ignored.

        `acknowledged`: the shortest recent time in which the bot's system acknowledged bytes; None if unknown.
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
        """Apply the time between a decision and its answer, in seconds, as a measurement."""
        if took < self._shortest:
            self._shortest = took
            if self.seconds is not None and took < self.seconds:
                self.seconds = took
