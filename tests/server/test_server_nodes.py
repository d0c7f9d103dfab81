"""A server as one of several nodes: its lease, its numbers, its jobs, and changes by other nodes. On a real store."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio
from sqlalchemy import delete

from arena.server.nodes.node import EVENT_SOON, EVENTS, FIT, LUCK, LeaseOverError, ThisNode
from arena.server.runtime import wall_clock
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import ListedNode
from arena.store import nodes, schema
from arena.store.base import changes
from arena.store.base.errors import JobLost, LeaseLost
from arena.store.matches import contests
from arena.store.matches.contests import EventPlan
from arena.store.nodes import LEASE, NodeStart
from arena.store.store import open_store
from tests.store import jobs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from sqlalchemy import Connection

    from arena.store.bots.bots import BotId
    from arena.store.store import Store


class Clock:
    """A clock that the test sets; the database has its own."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def opened(data: Path, number: int, lock: int) -> AsyncIterator[Store]:
    start = NodeStart(number, f"127.0.0.1:{number}", "a program", "settings", (1, 2))
    async with open_store(data, jobs.NOW, node=start, lock=lock) as store:
        yield store


@asynccontextmanager
async def pair(data: Path) -> AsyncIterator[tuple[Store, Store]]:
    """Open the stores of two nodes on one directory."""
    from arena.store.base.directory import database_of

    with database_of(data).locked() as lock:
        async with opened(data, 1, lock) as one, opened(data, 2, lock) as two:
            yield one, two


def node(store: Store, clock: Clock) -> ThisNode:
    assert store.lease is not None
    return ThisNode(store, store.lease, clock(), clock)


def three_bots(connection: Connection) -> list[BotId]:
    return jobs.add_bots(connection, "Ada", "Bob", "Cleo")


async def ignore(subject: str) -> None:
    pass


IGNORED = dict.fromkeys((changes.BOT, changes.OWNER, changes.LADDER, changes.EVENT), ignore)


async def test_a_node_sends_nothing_once_its_lease_is_over_by_the_clock_from_before_it_asked(tmp_path: Path) -> None:
    clock = Clock()
    async with pair(tmp_path) as (store, _):
        own = node(store, clock)
        own.require()
        clock.now += LEASE
        with pytest.raises(LeaseOverError, match=r"lease of node 1 has been over for 0\.0 s"):
            own.require()
        with pytest.raises(LeaseOverError):
            await own.next_number()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(own.run, IGNORED)
            while not own.holds:
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
        own.require()


async def test_a_node_whose_matches_another_has_interrupted_ends_by_name(tmp_path: Path) -> None:
    async with pair(tmp_path) as (store, other):
        own = node(store, Clock())
        assert store.lease is not None
        assert other.lease is not None
        await other.write(partial(nodes.adopt, number=2, left=(1,)))
        with pytest.raises(ExceptionGroup) as ended:
            await own.run(IGNORED)
        assert ended.group_contains(LeaseLost)
        assert not own.holds


async def test_a_node_corrects_a_wrong_clock_by_that_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pair(tmp_path) as (store, _):
        own, right = node(store, Clock()), time.time_ns
        for wrong in (-3600, 3600, 0):
            monkeypatch.setattr(time, "time_ns", lambda wrong=wrong: right() + wrong * 10**9)
            await own.begin()
            assert abs(wall_clock.now_us() * 1000 - right()) < 2 * 10**9
        assert wall_clock.now_us() // 10**6 == wall_clock.machine_us() // 10**6, "a right clock is used as it is"


async def test_a_node_without_workers_leaves_the_luck_to_others(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, two):
        assert one.lease is not None
        first, second = ThisNode(one, one.lease, 100.0, Clock(), (FIT, EVENTS)), node(two, Clock())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first.run, IGNORED)
            await first.acquired(EVENTS)
            nursery.start_soon(second.run, IGNORED)
            await second.acquired(LUCK)
            assert [(first.does(job), second.does(job)) for job in (FIT, LUCK)] == [(True, False), (False, True)]
            nursery.cancel_scope.cancel()


async def test_each_job_is_done_by_one_node_and_by_another_after_its_end(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, two):
        first, second = node(one, Clock()), node(two, Clock())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first.run, IGNORED)
            await first.acquired(EVENTS)
            assert all(first.does(job) for job in (FIT, LUCK, EVENTS))
            async with trio.open_nursery() as inner:
                inner.start_soon(second.run, IGNORED)
                await trio.sleep(0.3)
                assert not any(second.does(job) for job in (FIT, LUCK, EVENTS))
                inner.cancel_scope.cancel()
            nursery.cancel_scope.cancel()
        await first.release()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(second.run, IGNORED)
            await second.acquired(EVENTS)
            nursery.cancel_scope.cancel()


async def test_a_node_ends_when_another_holds_its_events(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, _):
        own = node(one, Clock())

        async def loses() -> None:
            await own.acquired(EVENTS)
            await one.write(lambda connection: connection.execute(delete(schema.leases)).rowcount)
            assert await one.write(partial(nodes.acquire, name=EVENTS, number=2))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(loses)
            with pytest.raises(ExceptionGroup) as ended:
                await own.run(IGNORED)
        assert ended.group_contains(JobLost, match="another node does the job 'events' now")


async def test_no_number_is_that_of_two_matches(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, two):
        first, second = node(one, Clock()), node(two, Clock())
        found = [await each.next_number() for _ in range(70) for each in (first, second)]
        assert len({*found}) == 140
        assert found[::2] == sorted(found[::2])


async def test_matches_that_begin_together_get_ascending_numbers(tmp_path: Path) -> None:
    """The other nodes count only matches with higher numbers than those that they have read."""
    found: list[int] = []
    async with pair(tmp_path) as (one, two):
        first, second = node(one, Clock()), node(two, Clock())

        async def begin_match() -> None:
            found.append(await first.next_number())

        async with trio.open_nursery() as nursery:
            for _ in range(160):
                nursery.start_soon(begin_match)
            await second.next_number()
    assert len(found) == 160
    assert found == sorted({*found})


async def test_what_one_node_changes_the_other_reads_once(tmp_path: Path) -> None:
    learned: list[str] = []

    async def learn(subject: str) -> None:
        learned.append(subject)

    async with pair(tmp_path) as (one, two):
        own = node(two, Clock())
        await own.begin()
        assert {*own.living} == {1, 2}
        await one.write(partial(changes.note, kind=changes.OWNER, subject="ann"))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(own.run, {changes.OWNER: learn})
            while not learned:
                await trio.sleep(0.05)
            await trio.sleep(1.2)
            nursery.cancel_scope.cancel()
    assert learned == ["ann"]


async def test_each_match_of_another_node_is_a_meeting_once(tmp_path: Path) -> None:
    met: list[tuple[str, tuple[int, ...]]] = []
    async with pair(tmp_path) as (one, two), trio.open_nursery() as nursery:
        own = node(two, Clock())
        ada, bob, cleo = await one.write(three_bots)
        await own.begin()
        nursery.start_soon(own.run, IGNORED, lambda _: None, lambda ladder, bots: met.append((ladder, tuple(bots))))
        started = (2, 1, (ada, cleo)), (70, 1, (ada, bob)), (3, 2, (ada, bob)), (71, 1, (bob, cleo))
        for match_id, by, players in started:
            await one.write(partial(jobs.begin, players=players, match_id=match_id, node=by))
        while len(met) < 3:
            await trio.sleep(0.05)
        await trio.sleep(1.2)
        nursery.cancel_scope.cancel()
    assert met == [(jobs.GAME, (ada, cleo)), (jobs.GAME, (ada, bob)), (jobs.GAME, (bob, cleo))]


async def test_a_changed_list_of_nodes_is_announced_once(tmp_path: Path) -> None:
    announced: list[dict[int, ListedNode]] = []
    async with pair(tmp_path) as (one, two), trio.open_nursery() as nursery:
        own, other = node(one, Clock()), node(two, Clock())
        await own.begin()
        nursery.start_soon(own.run, IGNORED, lambda list_for: announced.append(dict(list_for(1))))
        await trio.sleep(1.2)
        assert announced == []
        await other.release()
        while not announced:
            await trio.sleep(0.05)
        await trio.sleep(1.2)
        nursery.cancel_scope.cancel()
    assert announced == [{1: ListedNode("127.0.0.1:1")}]


async def test_an_entrant_s_list_names_the_node_of_its_event_from_a_minute_before_the_start(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, two), trio.open_nursery() as nursery:
        own, other = node(one, Clock()), node(two, Clock())
        ada, bob, _ = await one.write(three_bots)
        await one.write(partial(nodes.acquire, name=EVENTS, number=2))
        soon = EventPlan("soon", "sixth_sense", 2, "race", 3, None, "open", now_us() + EVENT_SOON + 2_000_000)
        await one.write(partial(contests.create, plan=soon, seed=bytes(32), entrants=("Ada",), at=jobs.NOW))
        await other.begin()
        assert [each.plays_event for each in other.list_for(ada).values()] == [False, False]
        announced: list[Mapping[int, ListedNode]] = []
        nursery.start_soon(own.run, IGNORED, lambda list_for: announced.extend(map(list_for, (ada, bob))))
        while not any(each.get(2, ListedNode("")).plays_event for each in announced):
            await trio.sleep(0.05)
        nursery.cancel_scope.cancel()
    first, second = {1: ListedNode("127.0.0.1:1")}, {2: ListedNode("127.0.0.1:2")}
    assert own.list_for(bob) == first | second
    assert own.list_for(ada) == first | {2: ListedNode("127.0.0.1:2", plays_event=True)}
    assert announced[-2:] == [own.list_for(ada), own.list_for(bob)]


async def test_a_later_entrant_gets_its_own_list(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, _), trio.open_nursery() as nursery:
        own = node(one, Clock())
        ada, bob, _ = await one.write(three_bots)
        await one.write(partial(nodes.acquire, name=EVENTS, number=2))
        plan = EventPlan("now", "sixth_sense", 2, "race", 3, None, "open", now_us() + 1_000_000)
        await one.write(partial(contests.create, plan=plan, seed=bytes(32), entrants=("Ada",), at=jobs.NOW))
        await own.begin()
        assert not own.list_for(bob)[2].plays_event
        nursery.start_soon(own.run, IGNORED)
        await one.write(partial(contests.enter, name="now", bot="Bob", at=jobs.NOW))
        while not own.list_for(bob)[2].plays_event:
            await trio.sleep(0.05)
        assert own.list_for(ada) == own.list_for(bob)
        nursery.cancel_scope.cancel()
