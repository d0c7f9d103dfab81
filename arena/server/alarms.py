"""One heap of all deadlines and the one task that waits for them.

Of a table's entries one counts, the newest. When its deadline moves later that entry stays and is looked at again when
it rings, so that a decision answered in time costs the heap nothing. The heap has numbers only: a match that is over
and forgotten may go at once, not when the last of its alarms would have rung.
"""

from __future__ import annotations

import heapq
import math
from itertools import count
from typing import TYPE_CHECKING, Protocol

import trio

if TYPE_CHECKING:
    from collections.abc import Iterator


class Sleeper(Protocol):
    """Something that wants to be woken at its deadline."""

    wakes_at: float
    """When its entry in the heap rings, in seconds of the server's clock; infinite without one. Kept by `Alarms`."""
    alarm: int
    """The number of that entry. Kept by `Alarms`."""

    @property
    def deadline(self) -> float:
        """When it wants to be woken; infinite when never."""

    def ring(self, now: float) -> None:
        """Called at the deadline or later."""


class Alarms:
    """Wakes sleepers at their deadlines."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._sleepers: dict[int, Sleeper] = {}
        self._numbers: Iterator[int] = count(1)
        self._sooner = trio.Event()

    def watch(self, sleeper: Sleeper) -> None:
        """To be called whenever a sleeper's deadline may have moved."""
        deadline = sleeper.deadline
        if deadline < sleeper.wakes_at:
            self.forget(sleeper)
            number = sleeper.alarm = next(self._numbers)
            sleeper.wakes_at = deadline
            self._sleepers[number] = sleeper
            heapq.heappush(self._heap, (deadline, number))
            if self._heap[0][1] == number:
                self._sooner.set()

    def forget(self, sleeper: Sleeper) -> None:
        """To be called when a sleeper is over."""
        self._sleepers.pop(sleeper.alarm, None)
        sleeper.wakes_at = math.inf

    async def run(self) -> None:
        """Rings for ever."""
        while True:
            while self._heap and self._heap[0][1] not in self._sleepers:
                heapq.heappop(self._heap)  # nobody is to be woken for those that are forgotten
            with trio.move_on_at(self._heap[0][0] if self._heap else math.inf):
                await self._sooner.wait()
            self._sooner = trio.Event()
            now = trio.current_time()
            while self._heap and self._heap[0][0] <= now:
                _, number = heapq.heappop(self._heap)
                sleeper = self._sleepers.pop(number, None)
                if sleeper is None:
                    continue
                sleeper.wakes_at = math.inf
                if sleeper.deadline <= now:
                    sleeper.ring(now)
                self.watch(sleeper)
