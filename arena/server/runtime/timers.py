# Compiled: every decision passes through here.
"""Timers: one heap of all deadlines, and one task that waits for the next.

Only the newest entry of an object counts. If its deadline moves to a later time, the entry stays and is checked again
when it is due. So a decision that is answered in time costs no heap operation. The heap contains only numbers, so that
a finished match can be freed before its last deadline.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import count
from typing import Protocol

import trio


class TimerOwner(Protocol):
    """An object with a deadline."""

    wakes_at: float
    """Time at which the object's heap entry is due, in seconds of the server's clock; infinite without an entry. Set by
    `Timers`.
    """
    timer_id: int
    """The number of the object's heap entry. Set by `Timers`."""

    @property
    def deadline(self) -> float:
        """The time at which `on_timer` should be called; infinite for never."""

    def on_timer(self, now: float) -> None:
        """Act on the deadline. Called at the deadline or later."""


class Timers:
    """Scheduler that calls `on_timer` of each watched object at its deadline."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._sleepers: dict[int, TimerOwner] = {}
        self._numbers: Iterator[int] = count(1)
        self._sooner = trio.Event()

    def watch(self, sleeper: TimerOwner) -> None:
        """Watch an object that is new or whose deadline may have moved."""
        deadline = sleeper.deadline
        if deadline < sleeper.wakes_at:
            self.forget(sleeper)
            number = sleeper.timer_id = next(self._numbers)
            sleeper.wakes_at = deadline
            self._sleepers[number] = sleeper
            heapq.heappush(self._heap, (deadline, number))
            if self._heap[0][1] == number:
                self._sooner.set()

    def forget(self, sleeper: TimerOwner) -> None:
        """Stop watching an object."""
        self._sleepers.pop(sleeper.timer_id, None)
        sleeper.wakes_at = math.inf

    async def run(self) -> None:
        """Wait for deadlines until cancelled, and call `on_timer`."""
        while True:
            while self._heap and self._heap[0][1] not in self._sleepers:
                heapq.heappop(self._heap)  # Avoids waking up for forgotten objects.
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
                    sleeper.on_timer(now)
                self.watch(sleeper)
