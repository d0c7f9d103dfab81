"""Reports that a bot missed. It names the leaf of its last report and gets every later report once, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import pytest
import trio
from sqlalchemy import Connection

from arena.server.sessions.messages import MatchOver
from arena.store.base import leaves as log
from arena.store.matches import ended, matches
from tests.server.server_rig import Bot, Hall, MemoryStore

T = TypeVar("T")


def after(bot: Bot, number: int | None) -> Bot:
    """Return the same bot on a new stream, with the leaf of its last report. It accepts no more matches."""
    again = bot.again()
    again.hello = again.hello._replace(reports_after=number)
    again.accepts = False
    return again


def numbers(reports: list[MatchOver]) -> list[int]:
    return [0 if report.entry is None else report.entry.number for report in reports]


def interrupted(store: MemoryStore, *players: Bot) -> int:
    """Store an interrupted match of these bots, as if the server had just been restarted. Return its leaf."""
    rows = [player.row.id for player in players]
    begun = store.now(lambda connection: matches.begin(connection, "x", {}, rows, 1))
    store.now(lambda connection: matches.interrupt(connection, [begun], "it was a test", 2))
    return store.now(log.size)


async def test_a_bot_gets_every_report_after_the_one_that_it_has(hall: Hall, store: MemoryStore) -> None:
    ann, bob, eve = (Bot(store.register(name)) for name in ("ann", "bob", "eve"))
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        assert bob.welcome is not None
        assert bob.welcome.log is not None
        first = bob.welcome.log.head.size
        bob.line.vanish()
        await ann.until(lambda: ann.reports)
        ann.accepts = False
        seat, leaf = bob.starts[0].seat, numbers(ann.reports)[0]
        assert leaf > first
        later = [interrupted(store, bob, ann), interrupted(store, ann, bob)]
        back = after(bob, first)
        hall.join(back)
        await back.until(lambda: len(back.reports) == 3)
        assert numbers(back.reports) == [leaf, *later]
        report, *void = back.reports
        assert replace(ann.reports[0], seat=seat, rating=report.rating, entry=report.entry) == report
        assert report.rating is not None
        assert report.rating.after < report.rating.before
        assert report.entry is not None
        assert report.entry.included
        assert [(each.seat, each.places, each.interrupted) for each in void] == [
            (0, (), "it was a test"),
            (1, (), "it was a test"),
        ]
        for player, number, expected in (
            (bob, leaf, later),
            (bob, later[-1], []),
            (bob, None, []),
            (bob, (1 << 64) - 1, []),
            (eve, first, []),
        ):
            again = after(player, number)
            hall.join(again)
            await trio.sleep(1)
            assert numbers(again.reports) == expected


async def test_a_number_beyond_the_log_counts_as_none(hall: Hall, store: MemoryStore) -> None:
    ann, bob = Bot(store.register("ann")), Bot(store.register("bob"))
    leaf = interrupted(store, ann, bob)
    async with hall.open():
        for number, expected in ((leaf - 1, [leaf]), (leaf, []), (leaf + 1, []), (leaf + 1000, [])):
            back = after(ann, number)
            hall.join(back)
            await trio.sleep(1)
            assert numbers(back.reports) == expected


async def test_of_too_many_reports_the_newest_are_sent(
    hall: Hall, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended, "MOST", 3)
    ann, bob = Bot(store.register("ann")), Bot(store.register("bob"))
    leaves = [interrupted(store, ann, bob) for _ in range(5)]
    async with hall.open():
        back = after(ann, 0)
        hall.join(back)
        await back.until(lambda: back.reports)
        await trio.sleep(1)
        assert numbers(back.reports) == leaves[-3:]


def test_the_reports_of_a_bot_are_found_by_an_index(store: MemoryStore) -> None:
    def plan(connection: Connection) -> list[str]:
        query = ended.newest_first(1, 1).compile(connection, compile_kwargs={"literal_binds": True})
        return [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}")]

    steps = store.now(plan)
    assert "ix_match_seats_bot_id_leaf (bot_id=? AND leaf>?)" in steps[0]
    assert all("SEARCH" in step for step in steps), steps


class SlowStore(MemoryStore):
    """A store that executes jobs at once, but returns their results only when gates open."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[trio.Event] = []
        """The gates of the next reads, in order."""
        self.ends: list[trio.Event] = []
        """The gates of the next ends of matches."""
        self.stored = 0
        """Number of stored ends of matches."""

    async def read(self, job: Callable[[Connection], T]) -> T:
        value = await super().read(job)
        if self.reads and isinstance(job, partial) and "reports_after" in job.keywords:
            await self.reads.pop(0).wait()
        return value

    async def write(self, job: Callable[[Connection], T]) -> T:
        if not (isinstance(job, partial) and job.func.__name__ == "_finish"):
            return await super().write(job)
        value: T = self.now(job)  # in the order of the calls, as in a real store
        self.stored += 1
        await (self.ends.pop(0) if self.ends else self.gate).wait()
        return value


@pytest.fixture
def store() -> SlowStore:
    return SlowStore()


async def test_a_match_that_ends_while_its_bot_connects_is_reported(hall: Hall, store: SlowStore) -> None:
    ann, bob = Bot(store.register("ann")), Bot(store.register("bob"))
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        store.reads = [trio.Event()]
        gate, back = store.reads[0], after(bob, 1)
        hall.join(back)
        await ann.until(lambda: ann.reports)
        ann.accepts = False
        assert back.welcome is None
        gate.set()
        await back.until(lambda: back.reports)
        await trio.sleep(1)
        assert numbers(back.reports) == numbers(ann.reports)


@pytest.mark.parametrize("reports_after", [1, None])
async def test_a_match_whose_end_is_being_stored_is_reported_once_and_after_the_head_of_the_welcome(
    hall: Hall, store: SlowStore, reports_after: int | None
) -> None:
    ann, bob = Bot(store.register("ann")), Bot(store.register("bob"))
    bob.answers = False
    store.ends = [trio.Event()]
    [gate] = store.ends
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        ann.accepts = False
        while not store.stored:
            await trio.sleep(1)
        back = after(bob, reports_after)
        hall.join(back)
        for _ in range(20):
            await trio.lowlevel.checkpoint()
        assert back.welcome is None, "it waits until the report is given to those who are there"
        gate.set()
        await ann.until(lambda: ann.reports)
        await trio.sleep(1)
        assert back.welcome is not None
        assert back.welcome.log is not None
        assert back.welcome.log.head.size == numbers(ann.reports)[-1]
        assert numbers(back.reports) == ([] if reports_after is None else numbers(ann.reports))


async def test_reports_come_in_the_order_of_their_leaves(hall: Hall, store: SlowStore) -> None:
    ann, bob = (Bot(store.register(name), capacity=2) for name in ("ann", "bob"))
    late: list[trio.Event] = [trio.Event(), trio.Event()]
    store.ends = list(late)
    async with hall.open(ann, bob):
        while store.stored < 2:
            await trio.sleep(0.01)
        ann.accepts = bob.accepts = False
        late[1].set()
        await trio.sleep(1)
        early: list[Any] = list(ann.reports)
        late[0].set()
        await ann.until(lambda: len(ann.reports) >= 2)
        assert early == []
        assert numbers(ann.reports) == sorted(numbers(ann.reports))
