"""Results that a bot was not there for: it names the matches it was in, and is told how they ended."""

from __future__ import annotations

from dataclasses import replace

import trio

from arena.store.matches import matches
from tests.server.server_rig import Bot, Hall, MemoryStore


def asking(bot: Bot, *playing: int) -> Bot:
    again = bot.again()
    again.hello = again.hello._replace(playing=playing)
    return again


async def test_a_bot_that_asks_is_told_once_how_its_matches_ended_without_it(hall: Hall, store: MemoryStore) -> None:
    ann, bob, eve = (Bot(store.register(name)) for name in ("ann", "bob", "eve"))
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        await ann.until(lambda: ann.reports)
        seat = bob.starts[0].seat
        forgetful, back = bob.again(), asking(bob, 1, 17, 1 << 63)
        forgetful.accepts = back.accepts = False
        hall.join(forgetful)
        await trio.sleep(1)
        assert forgetful.reports == [], "it did not ask"
        hall.join(back)
        await back.until(lambda: back.reports)
        [report] = back.reports
        assert replace(ann.reports[0], seat=seat, rating=report.rating) == report
        assert report.rating is not None
        assert report.rating.after < report.rating.before
        stranger = asking(eve, 1)
        stranger.accepts = False
        hall.join(stranger)
        await trio.sleep(1)
        assert stranger.reports == [], "it had no seat"
        assert len(back.reports) == 1


async def test_what_goes_on_reports_when_it_is_over_and_what_is_void_says_so(hall: Hall, store: MemoryStore) -> None:
    ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
    bob.answers = False
    void = store.now(lambda connection: matches.begin(connection, "x", {}, [bob.row.id, ann.row.id], 1))
    store.now(lambda connection: matches.interrupt(connection, [void], "it was a test", 2))
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        await ann.until(lambda: ann.notices)
        back = asking(bob, void, bob.questions[0].match_id)
        hall.join(back)
        await back.until(lambda: len(back.reports) == 2)
        first, second = back.reports
        assert (first.match_id, first.seat, first.places, first.interrupted) == (void, 0, (), "it was a test")
        assert (second.match_id, second.interrupted) == (bob.questions[0].match_id, "")
        assert sorted(second.places) == [1, 2] or second.places == (1, 1)
