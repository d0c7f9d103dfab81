"""One heap of all deadlines and the one task that waits for them.

A table has at most one entry. When its deadline moves later the entry stays and is looked at again when it rings, so
that a decision answered in time costs the heap nothing. The heap keeps nobody alive: a match that is over may go at
once, not when the last of its alarms would have rung.
"""

from __future__ import annotations

import heapq
import math
from itertools import count
from typing import TYPE_CHECKING, Protocol
from weakref import ref

import trio

if TYPE_CHECKING:
    from collections.abc import Iterator


class Sleeper(Protocol):
    """Something that wants to be woken at its deadline."""

    wakes_at: float
    """When its entry in the heap rings, in seconds of the server's clock; infinite without one. Kept by `Alarms`."""

    @property
    def deadline(self) -> float:
        """When it wants to be woken; infinite when never."""

    def ring(self, now: float) -> None:
        """Called at the deadline or later."""


class Alarms:
    """Wakes sleepers at their deadlines."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, ref[Sleeper]]] = []
        self._numbers: Iterator[int] = count()
        self._sooner = trio.Event()

    def watch(self, sleeper: Sleeper) -> None:
        """To be called whenever a sleeper's deadline may have moved."""
        deadline = sleeper.deadline
        if deadline < sleeper.wakes_at:
            sleeper.wakes_at = deadline
            number = next(self._numbers)
            heapq.heappush(self._heap, (deadline, number, ref(sleeper)))
            if self._heap[0][1] == number:
                self._sooner.set()

    async def run(self) -> None:
        """Rings for ever."""
        while True:
            with trio.move_on_at(self._heap[0][0] if self._heap else math.inf):
                await self._sooner.wait()
            self._sooner = trio.Event()
            now = trio.current_time()
            while self._heap and self._heap[0][0] <= now:
                at, _, found = heapq.heappop(self._heap)
                sleeper = found()
                if sleeper is None or at != sleeper.wakes_at:
                    continue
                sleeper.wakes_at = math.inf
                if sleeper.deadline <= now:
                    sleeper.ring(now)
                self.watch(sleeper)
