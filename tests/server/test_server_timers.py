"""Timers fire at deadlines that may change. With a virtual clock."""

from __future__ import annotations

import math
from weakref import ref

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.server.runtime.timers import Timers

pytestmark = pytest.mark.virtual_clock


class Sleeper:
    """A timer that should fire once, at its deadline."""

    def __init__(self, timers: Timers, rang: list[tuple[str, float]], name: str = "") -> None:
        self.wakes_at = math.inf
        self.timer_id = 0
        self.deadline = math.inf
        self.looked = 0
        self.again: list[float] = []
        """The deadline after each firing."""
        self._timers, self._rang, self._name = timers, rang, name

    def wants(self, deadline: float) -> None:
        self.deadline = deadline
        self._timers.watch(self)

    def on_timer(self, now: float) -> None:
        assert now >= self.deadline
        self._rang.append((self._name, now))
        self.wants(self.again.pop(0) if self.again else math.inf)


class Rig:
    def __init__(self) -> None:
        self.timers = Timers()
        self.rang: list[tuple[str, float]] = []
        self.start = trio.current_time()
        self.sleepers: list[Sleeper] = []

    def sleeper(self, name: str = "") -> Sleeper:
        self.sleepers.append(Sleeper(self.timers, self.rang, name))
        return self.sleepers[-1]

    @property
    def rings(self) -> list[tuple[str, float]]:
        return [(name, round(at - self.start, 6)) for name, at in self.rang]


@pytest.fixture
async def rig(nursery: trio.Nursery) -> Rig:
    rig = Rig()
    nursery.start_soon(rig.timers.run)
    return rig


async def test_sleepers_are_woken_in_the_order_of_their_deadlines(rig: Rig) -> None:
    for name, delay in (("c", 3), ("a", 1), ("b", 2), ("b2", 2)):
        rig.sleeper(name).wants(rig.start + delay)
    await trio.sleep(10)
    assert rig.rings == [("a", 1), ("b", 2), ("b2", 2), ("c", 3)]


async def test_an_earlier_deadline_wakes_sooner(rig: Rig) -> None:
    sleeper, other = rig.sleeper("early"), rig.sleeper("other")
    other.wants(rig.start + 5)
    sleeper.wants(rig.start + 8)
    await wait_all_tasks_blocked()
    sleeper.wants(rig.start + 2)
    await trio.sleep(10)
    assert rig.rings == [("early", 2), ("other", 5)]


async def test_a_deadline_that_moved_later_is_looked_at_again(rig: Rig) -> None:
    sleeper = rig.sleeper("late")
    sleeper.wants(rig.start + 1)
    sleeper.wants(rig.start + 4)
    await trio.sleep(10)
    assert rig.rings == [("late", 4)]


async def test_a_deadline_that_was_met_rings_nobody(rig: Rig) -> None:
    sleeper = rig.sleeper()
    sleeper.wants(rig.start + 1)
    sleeper.wants(math.inf)
    await trio.sleep(10)
    assert rig.rings == []


async def test_a_sleeper_with_a_new_deadline_rings_again(rig: Rig) -> None:
    sleeper = rig.sleeper("again")
    sleeper.again = [rig.start + 3, rig.start + 4]
    sleeper.wants(rig.start + 1)
    await trio.sleep(10)
    assert rig.rings == [("again", 1), ("again", 3), ("again", 4)]


async def test_a_deadline_in_the_past_rings_at_once(rig: Rig) -> None:
    await trio.sleep(5)
    rig.sleeper("past").wants(rig.start + 1)
    await trio.sleep(0.001)
    assert rig.rings == [("past", 5)]


async def test_decisions_answered_in_time_cost_the_heap_nothing(rig: Rig) -> None:
    sleeper = rig.sleeper()
    for step in range(1000):
        sleeper.wants(rig.start + 1 + step / 1000)
    assert len(rig.timers._heap) == 1, "one entry a sleeper while its deadline only moves later"


async def test_a_deadline_that_came_sooner_and_went_back_rings_once(rig: Rig) -> None:
    sleeper = rig.sleeper("once")
    for delay in (6, 3, 6, 3, 6):
        sleeper.wants(rig.start + delay)
    await trio.sleep(10)
    assert rig.rings == [("once", 6)]


async def test_a_sleeper_that_is_forgotten_is_neither_kept_nor_missed(rig: Rig) -> None:
    gone = Sleeper(rig.timers, rig.rang, "gone")
    gone.wants(rig.start + 1)
    rig.sleeper("here").wants(rig.start + 2)
    rig.timers.forget(gone)
    left = ref(gone)
    del gone
    assert left() is None
    await trio.sleep(10)
    assert rig.rings == [("here", 2)]


async def test_alarms_of_sleepers_that_are_forgotten_wake_nobody(rig: Rig) -> None:
    for step in range(100):
        gone = rig.sleeper("gone")
        gone.wants(rig.start + 1 + step / 100)
        rig.timers.forget(gone)
    await wait_all_tasks_blocked()
    assert len(rig.timers._heap) == 0, "nor do they wait for their time"
