"""Matches survive their server, because the next server continues them. In memory, with a virtual clock."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from arena.analysis.timeline import EventKind
from arena.analysis.timeline_builder import timelines
from arena.match.inputs import Acted, Begun, Instant, Left, Restored, StoodIn, TimeUp
from arena.server.arena import Arena
from arena.server.matches.persistence import RETRY
from arena.server.sessions.messages import NoticeKind
from arena.store.base.errors import StoreError
from arena.store.base.rows import Interruption, MatchRow, MatchState
from arena.store.matches import matches
from engine.nullern import NULLERN
from tests.server.server_rig import POLICY, Bot, Hall, HouseBot, MemoryStore, answer, replay_of, running

pytestmark = pytest.mark.virtual_clock

HOUSE = (HouseBot("house-one"), HouseBot("house-two"))


@asynccontextmanager
async def ending(
    store: MemoryStore, *players: Bot, house: Sequence[HouseBot] = (), **changes: Any
) -> AsyncIterator[Arena]:
    """A server with these bots. It accepts no more input after the `with` block, so that the next server may start."""
    async with running(store, house, house=bool(house), **changes) as arena, trio.open_nursery() as nursery:
        for bot in players:
            nursery.start_soon(bot.attend, arena)
        yield arena
        await arena.drain(0)
        nursery.cancel_scope.cancel()
    store.reopen()


def state_of(store: MemoryStore, match_id: int = 1) -> MatchRow:
    return store.now(partial(matches.get_match, match_id=match_id))


def asked(bot: Bot, questions: int) -> bool:
    return len(bot.questions) == questions


async def plays_on(hall: Hall, bot: Bot) -> Bot:
    """Return a bot of an earlier server on a new stream, after it has a result."""
    bot = bot.again()
    hall.join(bot)
    await bot.until(lambda: bot.reports)
    return bot


async def substituted(ann: Bot, bob: Bot) -> None:
    """Bob is absent until a house bot replaces him. From then on Ann sends no answers."""
    bob.answers = False
    await bob.until(lambda: bob.questions)
    bob.line.vanish()
    await ann.until(lambda: ann.notices)
    await trio.sleep(POLICY.grace / 1e6 - 0.1)
    ann.answers = False
    await ann.until(lambda: NoticeKind.SUBSTITUTED in ann.kinds())


async def test_a_match_goes_on_at_the_decision_where_it_stood_and_nobody_is_charged(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(lambda: bob.questions)
        await trio.sleep(2.5)
        bob.line.say((), [answer(bob.questions[0])])
        await bob.until(lambda: len(bob.questions) == 2)
        bob.line.say((), [answer(bob.questions[1], 99), answer(bob.questions[1], 98)])
        await bob.until(lambda: len(bob.notices) == 2)
        await trio.sleep(0.25)
    stood = bob.questions[1].ask
    assert stood.bank == pytest.approx(9_500_000, abs=100)
    await trio.sleep(1000)
    async with hall.open() as arena:
        assert arena.playing == 1
        ann, bob = ann.again(), bob.again()
        bob.answers = False
        hall.join(ann, bob)
        await bob.until(lambda: bob.questions)
        again = bob.questions[0].ask
        assert (again.seat, again.decision, again.view) == (stood.seat, stood.decision, stood.view)
        assert list(again.legal) == list(stood.legal)
        assert again.bank == stood.bank
        assert 750_000 <= again.soft <= 1_000_000, "only what had passed by the last input is gone"
        bob.line.say((), [answer(bob.questions[0], 97)])
        # the third late answer; the first two are stored
        await bob.until(lambda: NoticeKind.FORCED_BY_ILLEGALITY in bob.kinds())
        bob.answers = True
        await ann.until(lambda: ann.reports)
        assert ann.reports[0].match_id == 1
        assert ann.reports[0].rating is not None
    match = state_of(store)
    assert match.state is MatchState.FINISHED
    assert {seat.bot: seat.forced for seat in match.seats} == {"ann": 0, "bob": 1}
    replay = replay_of(store)
    assert sum(isinstance(event, Restored) for event in replay.inputs) == 1
    assert replay.result.counts == (True, True)
    assert replay.result.troubled == (False, False)


async def test_a_match_outlives_any_number_of_servers(hall: Hall, store: MemoryStore, ann: Bot, bob: Bot) -> None:
    for _ in range(5):
        bob.answers = False
        async with ending(store, ann, bob) as arena:
            await bob.until(partial(asked, bob, 1))
            assert arena.playing == 1
            bob.line.say((), [answer(bob.questions[0])])
            await bob.until(partial(asked, bob, 2))
        ann, bob = ann.again(), bob.again()
    async with hall.open(ann, bob):
        await ann.until(lambda: ann.reports)
    replay = replay_of(store)
    assert sum(isinstance(event, Restored) for event in replay.inputs) == 5
    assert state_of(store).state is MatchState.FINISHED


async def test_a_server_that_fails_charges_nobody_while_it_ends(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with hall.open() as arena:
        async with trio.open_nursery() as calls:
            calls.start_soon(ann.attend, arena)
            calls.start_soon(bob.attend, arena)
            await bob.until(partial(asked, bob, 1))
            calls.cancel_scope.cancel()
        # until the server's connections are closed, which takes longer than Bob's clock and grace together
        await trio.sleep(100)
    store.reopen()
    ann, bob = ann.again(), bob.again()
    async with hall.open(ann, bob):
        await ann.until(lambda: ann.reports)
    replay = replay_of(store)
    assert [type(event) for event in replay.inputs if isinstance(event, (Left, TimeUp, StoodIn))] == []
    assert replay.result.troubled == (False, False)


async def test_nobodys_pace_counts_the_time_in_which_clocks_stand_still(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(partial(asked, bob, 1))
    ann, bob = ann.again(), bob.again()
    async with hall.open(bob) as arena:
        await trio.sleep(40)
        hall.join(ann)
        await ann.until(lambda: ann.reports)
        for bot in (ann, bob):
            assert (arena.players.pace(bot.row.id).at(trio.current_time()) or 0.0) < 0.1


async def test_clocks_stand_still_until_everybody_is_back(hall: Hall, store: MemoryStore, ann: Bot, bob: Bot) -> None:
    ann.answers = bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(lambda: bob.questions)
    async with hall.open():
        ann, bob = ann.again(), bob.again()
        ann.answers = bob.answers = False
        hall.join(bob)
        await bob.until(lambda: bob.questions)
        await trio.sleep(59)
        assert bob.notices == []
        hall.join(ann)
        await bob.until(lambda: bob.notices)
        assert bob.kinds() == [NoticeKind.RELEASED]
        released = trio.current_time()
        await bob.until(lambda: NoticeKind.FORCED_BY_TIME in bob.kinds())
        assert trio.current_time() - released == pytest.approx(12, abs=0.01), "from here his clock runs, whole"


async def test_who_is_not_back_within_a_minute_is_missed_and_then_replaced(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(lambda: bob.questions)
    began = trio.current_time()
    async with hall.open():
        ann = ann.again()
        hall.join(ann)
        await ann.until(lambda: ann.notices)
        assert trio.current_time() - began == pytest.approx(60, abs=0.01)
        await ann.until(lambda: ann.reports)
        assert trio.current_time() - began == pytest.approx(90, abs=0.01)
        assert ann.kinds() == [NoticeKind.RELEASED, NoticeKind.GONE, NoticeKind.SUBSTITUTED]
    assert {seat.bot: seat.place for seat in state_of(store).seats} == {"ann": 1, "bob": 2}
    replay_of(store)


async def test_house_bots_go_on_by_themselves(hall: Hall, store: MemoryStore, ann: Bot) -> None:
    ann.answers = False
    async with ending(store, ann, house=HOUSE, seats=(3,)):
        await ann.until(lambda: ann.questions)
    async with hall.open(house_bots=HOUSE, house=True, seats=(3,)):
        ann = await plays_on(hall, ann)
        assert ann.kinds() == [NoticeKind.RELEASED], "nobody waits for house bots"
    assert state_of(store).state is MatchState.FINISHED


async def test_house_bots_whose_code_changed_go_on_under_their_names(hall: Hall, store: MemoryStore, ann: Bot) -> None:
    class Changed(HouseBot):
        version = "2"

    ann.answers = False
    async with ending(store, ann, house=HOUSE, seats=(3,)):
        await ann.until(lambda: ann.questions)
    async with hall.open(house_bots=[Changed(bot.name) for bot in HOUSE], house=True, seats=(3,)):
        ann = await plays_on(hall, ann)
    match, replay = state_of(store), replay_of(store)
    assert {seat.version for seat in match.seats if seat.bot != "ann"} == {"1"}, "the result is that of the old ones"
    assert [event.stand_in for event in replay.inputs if isinstance(event, Restored)] == ["house-two 2"]


@pytest.mark.parametrize("back", [True, False])
async def test_a_house_bot_that_plays_on_for_another_does_so_in_the_next_server(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot, back: bool
) -> None:
    async with ending(store, ann, bob):
        await substituted(ann, bob)
        await ann.until(lambda: len(ann.questions) == 2)
    async with hall.open():
        ann, bob = ann.again(), bob.again()
        if back:
            hall.join(bob)
            await wait_all_tasks_blocked()
        hall.join(ann)
        await ann.until(lambda: ann.reports)
        expected = [NoticeKind.RELEASED, NoticeKind.BACK] if back else [NoticeKind.RELEASED]
        assert ann.kinds() == expected
    replay = replay_of(store)
    assert any(isinstance(event, StoodIn) for event in replay.inputs)
    assert replay.result.counts.count(False) == 1
    assert (NoticeKind.SUBSTITUTED in bob.kinds()) == back


async def test_a_seat_of_which_a_house_bot_owes_a_choice_is_played_at_once(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    """The server died after the house bot got the seat, but before its choice was written."""
    async with ending(store, ann, bob):
        await substituted(ann, bob)
    store.shorten(lambda line: '"in":"stood_in"' in line)
    async with hall.open():
        ann = await plays_on(hall, ann)
    assert state_of(store).state is MatchState.FINISHED
    assert any(isinstance(event, StoodIn) for event in replay_of(store).inputs)


async def test_a_match_that_was_over_but_not_stored_is_stored_at_the_next_start(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with ending(store, ann, bob) as arena:
        await ann.until(lambda: ann.questions)
        store.gate = trio.Event()
        with trio.move_on_after(5):
            await ann.until(lambda: ann.reports)
        assert arena.playing == 1
        assert ann.rounds == 2
    store.gate.set()
    store.writing = 0
    async with hall.open() as arena:
        await wait_all_tasks_blocked()
        assert arena.playing == 0
    assert state_of(store).state is MatchState.FINISHED
    assert not any(isinstance(event, Restored) for event in replay_of(store).inputs)


@pytest.mark.sources_only("it replaces a method")
async def test_a_match_that_an_older_server_began_goes_on(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.answers = False
    monkeypatch.setattr("arena.server.matches.ready_check.ReadyCheck.offers", ())  # no choice was stored
    monkeypatch.setattr("arena.server.matches.driver.MatchDriver.begin", lambda self: self._feed(Begun(Instant(0))))
    async with ending(store, ann, bob):
        await ann.until(lambda: ann.questions)
    async with hall.open():
        again, other = ann.again(), bob.again()
        hall.join(again, other)
        await again.until(lambda: again.reports)
    assert again.starts == []
    assert state_of(store).state is MatchState.FINISHED


async def test_a_match_goes_on_with_another_stand_in_and_its_replay_says_so(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with ending(store, ann, bob, house=HOUSE):
        await substituted(ann, bob)
    async with hall.open(house_bots=(HouseBot("house-new"),), house=True):
        ann = await plays_on(hall, ann)
    assert state_of(store).state is MatchState.FINISHED
    replay = replay_of(store)
    assert replay.header.stand_in == "house-two 1"
    assert [event.stand_in for event in replay.inputs if isinstance(event, Restored)] == ["house-new 1"]


@pytest.mark.parametrize("left", ["house-one", "house-two"])
async def test_a_stand_in_plays_on_for_a_house_bot_that_an_upgrade_removed(
    hall: Hall, store: MemoryStore, ann: Bot, left: str
) -> None:
    ann.answers = False
    async with ending(store, ann, house=HOUSE, seats=(3,)):
        await ann.until(lambda: ann.questions)
    async with hall.open(house_bots=(HouseBot(left),), house=True, seats=(3,)):
        ann = await plays_on(hall, ann)
    match, replay = state_of(store), replay_of(store)
    assert match.state is MatchState.FINISHED
    removed = next(seat for seat, each in enumerate(match.seats) if each.bot not in {"ann", left})
    events = timelines(replay.header, replay.inputs)[removed].events
    assert [event.stand_in for event in events if event.kind is EventKind.REPLACED] == [f"{left} 1"]
    assert [(event.stand_in, event.removed) for event in replay.inputs if isinstance(event, Restored)] == [
        (f"{left} 1", (removed,))
    ]
    assert not any(replay.result.forced), "nothing was chosen by a fixed rule"
    assert all(seat.rating_after is not None for seat in match.seats)


async def test_a_replay_says_who_played_for_a_removed_house_bot_through_several_starts(
    hall: Hall, store: MemoryStore, ann: Bot
) -> None:
    ann.answers = False
    async with ending(store, ann, house=HOUSE, seats=(3,)):
        await ann.until(lambda: ann.questions)
    for _ in range(2):
        async with hall.open(house_bots=HOUSE[1:], house=True, seats=(3,)) as arena:
            assert arena.playing == 1
            await arena.drain(0)
        store.reopen()
    async with hall.open(house_bots=HOUSE, house=True, seats=(3,)):
        ann = await plays_on(hall, ann)
    match, replay = state_of(store), replay_of(store)
    removed = next(seat for seat, each in enumerate(match.seats) if each.bot == "house-one")
    kinds = [event.kind for event in timelines(replay.header, replay.inputs)[removed].events]
    assert kinds.count(EventKind.REPLACED) == 1, "it was the same at the second start"
    seats = [event.removed for event in replay.inputs if isinstance(event, Restored)]
    assert seats == [(removed,), (removed,), ()], "at last it was there again"


async def test_a_match_of_a_game_that_is_no_longer_played_is_void(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(lambda: bob.questions)
    async with hall.open(games=(NULLERN,)) as arena:
        assert arena.playing == 0
    assert state_of(store).reason.endswith("cannot be restored: this server does not play counting")
    assert state_of(store).interruption is Interruption.NOT_RESTORED


async def test_a_match_whose_journal_makes_no_sense_is_void(hall: Hall, store: MemoryStore, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(lambda: bob.questions)
    store.unfinished = {1: ['{"in":"begun","at":0}']}
    async with hall.open() as arena:
        assert arena.playing == 0
    assert "the journal of match 1, line 1: it is no replay of an arena" in state_of(store).reason
    assert state_of(store).interruption is Interruption.NOT_RESTORED


async def test_a_void_match_that_cannot_be_stored_yet_is_stored_later(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with ending(store, ann, bob):
        await bob.until(lambda: bob.questions)
    store.unfinished = {1: ["nonsense"]}
    store.troubles = [None, StoreError("no luck"), StoreError("no luck")]  # the first write is that of the house bots
    began = trio.current_time()
    async with hall.open() as arena:
        assert trio.current_time() - began == pytest.approx(2 * RETRY)
        assert arena.playing == 0
    assert state_of(store).state is MatchState.INTERRUPTED


async def test_a_journal_that_cannot_be_written_delays_what_is_sent_and_loses_nothing(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        await wait_all_tasks_blocked()
        write = os.write

        def no_room(file: int, content: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        with capture_logs() as logs:
            monkeypatch.setattr(os, "write", no_room)
            asked = len(ann.questions)
            bob.line.say((), [answer(bob.questions[0])])
            bob.answers = True
            await trio.sleep(1)
            assert len(ann.questions) == asked
            await trio.sleep(5 * RETRY)
            assert (len(ann.questions), len(bob.questions)) == (asked, 1), "nothing is sent that is not written"
            for bot in (ann, bob):
                assert [(notice.kind, notice.match_id) for notice in bot.notices] == [(NoticeKind.HELD, None)]
                assert "cannot store anything at the moment" in bot.notices[0].text
            monkeypatch.setattr(os, "write", write)
            await ann.until(lambda: ann.reports)
            assert bob.kinds() == ann.kinds() == [NoticeKind.HELD, NoticeKind.RELEASED]
        assert {entry["event"] for entry in logs} >= {"journal not written yet", "match over"}
    assert [seat.forced for seat in state_of(store).seats] == [0, 0], "a question that is not sent has no clock"
    decisions = sorted(event.decision for event in replay_of(store).inputs if isinstance(event, Acted))
    assert decisions == list(range(1, 13))
