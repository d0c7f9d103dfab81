"""Results that a bot was not there for: it names the matches it was in, and is told how they ended."""

from __future__ import annotations

from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock

from arena.store.matches import matches
from tests.server.server_rig import Bot, MemoryStore, running


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def asking(bot: Bot, *playing: int) -> Bot:
    again = bot.again()
    again.hello = again.hello._replace(playing=playing)
    return again


async def test_a_bot_that_asks_is_told_once_how_its_matches_ended_without_it(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ann, bob, eve = (Bot(store.register(name)) for name in ("ann", "bob", "eve"))
    bob.answers = False
    async with running(store) as arena:
        nursery.start_soon(ann.attend, arena)
        nursery.start_soon(bob.attend, arena)
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        await ann.until(lambda: ann.reports)
        seat = bob.starts[0].seat
        forgetful, back = bob.again(), asking(bob, 1, 17, 1 << 63)
        forgetful.accepts = back.accepts = False
        nursery.start_soon(forgetful.attend, arena)
        await trio.sleep(1)
        assert forgetful.reports == [], "it did not ask"
        nursery.start_soon(back.attend, arena)
        await back.until(lambda: back.reports)
        [report] = back.reports
        assert replace(ann.reports[0], seat=seat, rating=report.rating) == report
        assert report.rating is not None
        assert report.rating.after < report.rating.before
        stranger = asking(eve, 1)
        stranger.accepts = False
        nursery.start_soon(stranger.attend, arena)
        await trio.sleep(1)
        assert stranger.reports == [], "it had no seat"
        assert len(back.reports) == 1


async def test_what_goes_on_reports_when_it_is_over_and_what_is_void_says_so(
    store: MemoryStore, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
    bob.answers = False
    void = store.now(lambda connection: matches.begin(connection, "x", {}, [bob.row.id, ann.row.id], 1))
    store.now(lambda connection: matches.interrupt(connection, [void], "it was a test", 2))
    async with running(store) as arena:
        nursery.start_soon(ann.attend, arena)
        nursery.start_soon(bob.attend, arena)
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        await ann.until(lambda: ann.notices)
        back = asking(bob, void, bob.questions[0].match_id)
        nursery.start_soon(back.attend, arena)
        await back.until(lambda: len(back.reports) == 2)
        first, second = back.reports
        assert (first.match_id, first.seat, first.places, first.interrupted) == (void, 0, (), "it was a test")
        assert (second.match_id, second.interrupted) == (bob.questions[0].match_id, "")
        assert sorted(second.places) == [1, 2] or second.places == (1, 1)
