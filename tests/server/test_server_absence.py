"""Absent bots: the other seats are notified, a house bot takes over, and the bot gets its seat back in the next
round.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import trio

from arena.server.sessions.messages import NoticeKind
from arena.store.bots import bots
from arena.store.ladder.standings import history
from arena.store.matches import matches
from tests.server.server_rig import GAME, POLICY, Bot, Hall, HouseBot, MemoryStore, answer

GRACE = POLICY.grace / 1e6


@pytest.fixture
def players(store: MemoryStore) -> list[Bot]:
    return [Bot(store.register(name)) for name in ("ann", "bob", "cleo")]


async def test_everybody_at_the_table_is_told_who_is_gone_until_when_and_who_is_back(
    hall: Hall, players: list[Bot]
) -> None:
    ann, bob, cleo = players
    bob.answers = False
    async with hall.open(seats=(3,)):
        for bot in players:
            hall.join(bot)
        await bob.until(lambda: bob.questions)
        seat = bob.starts[0].seat
        bob.line.vanish()
        await ann.until(lambda: ann.notices)
        await cleo.until(lambda: cleo.notices)
        for bot in (ann, cleo):
            (gone,) = bot.notices
            assert (gone.kind, gone.match_id, gone.seat, gone.return_time) == (NoticeKind.GONE, 1, seat, POLICY.grace)
            assert gone.text == "bob is gone; in 30 s a house bot plays its seat on"
        await trio.sleep(GRACE - 1)
        back = bob.again()
        hall.join(back)
        await ann.until(lambda: len(ann.notices) == 2)
        assert (ann.notices[1].kind, ann.notices[1].seat) == (NoticeKind.BACK, seat)
        await ann.until(lambda: ann.reports)
        assert ann.reports[0].counts == (True, True, True)


async def test_a_bot_that_has_not_finished_a_match_has_less_time_to_come_back(
    hall: Hall, store: MemoryStore, players: list[Bot]
) -> None:
    ann, bob, _ = players
    async with hall.open(ann, bob, policy=replace(POLICY, newcomer_grace=5_000_000)):
        await bob.until(lambda: bob.reports)
        bob.answers = False
        await bob.until(lambda: len(bob.starts) == 2)
        bob.line.vanish()
        await ann.until(lambda: ann.notices)
        assert ann.notices[0].return_time == POLICY.grace, "it has finished one"
    async with hall.open(policy=replace(POLICY, newcomer_grace=5_000_000)):
        back, cleo = ann.again(), Bot(store.register("dora"))
        cleo.answers = False
        hall.join(cleo, back)
        await cleo.until(lambda: cleo.questions)
        cleo.line.vanish()
        await back.until(lambda: any(notice.return_time == 5_000_000 for notice in back.notices))


async def test_a_bot_that_leaves_in_order_makes_nobody_wait_and_is_in_no_trouble(
    hall: Hall, store: MemoryStore, players: list[Bot]
) -> None:
    ann, bob, _ = players
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        began = trio.current_time()
        bob.line.say(leaves=True)
        await ann.until(lambda: ann.reports)
        assert trio.current_time() == pytest.approx(began, abs=0.01)
        assert bob.end is None, "its session ended in order"
        assert ann.kinds()[:2] == [NoticeKind.GONE, NoticeKind.SUBSTITUTED]
        assert ann.notices[0].text == "bob is gone; at once a house bot plays its seat on"
    seats = {seat.bot: seat for seat in store.now(partial(matches.get_match, match_id=1)).seats}
    assert (seats["ann"].place, seats["bob"].place) == (1, 2)
    assert store.now(partial(bots.find, name="bob")).troubles == ()


async def test_a_bot_that_leaves_in_order_leaves_its_invitations(hall: Hall, players: list[Bot]) -> None:
    ann, bob, _ = players
    bob.accepts = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.invitations)
        bob.line.say(leaves=True)
        await ann.until(lambda: ann.notices)
        assert ann.notices[0].text == "the match does not take place: a bot left"
        await trio.sleep(60)
        assert len(bob.invitations) == 1


async def test_a_bot_that_comes_back_is_told_its_seat_and_the_names_again(hall: Hall, players: list[Bot]) -> None:
    ann, bob, _ = players
    bob.answers = False
    async with hall.open(ann, bob, options={"rounds": 3}):
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        await ann.until(lambda: ann.notices)
        back = bob.again()
        hall.join(back)
        await back.until(lambda: back.questions)
        assert back.starts == bob.starts
        (start,) = back.starts
        assert (start.match_id, start.bots[start.seat], start.options) == (1, "bob", {"rounds": "3"})


async def test_a_bot_has_its_seat_back_with_the_next_round_and_its_answers_before_are_refused_with_a_notice(
    hall: Hall, store: MemoryStore, players: list[Bot]
) -> None:
    ann, bob, _ = players
    bob.answers = False
    async with hall.open(ann, bob, options={"rounds": 5}):
        await bob.until(lambda: bob.questions)
        seat, owed = bob.starts[0].seat, bob.questions[0]
        bob.line.vanish()
        await ann.until(lambda: ann.notices)
        await trio.sleep(GRACE - 0.1)
        ann.answers = False  # this seat stays silent, so the round does not end
        await ann.until(lambda: NoticeKind.SUBSTITUTED in ann.kinds())
        (substituted,) = [notice for notice in ann.notices if notice.kind is NoticeKind.SUBSTITUTED]
        assert substituted.seat == seat
        assert substituted.text == "house-random plays the seat of bob on"

        back = bob.again()
        hall.join(back)
        await back.until(lambda: back.notices)
        assert (back.notices[0].kind, back.notices[0].seat) == (NoticeKind.SUBSTITUTED, None)
        assert back.notices[0].text == "house-random plays your seat on; you have it back from the next round"
        back.line.say((), [answer(owed)])
        await back.until(lambda: len(back.notices) == 2)
        assert back.notices[1].kind in {NoticeKind.SUBSTITUTED, NoticeKind.STALE}
        assert back.questions == []

        ann.answers = True
        ann.line.say((), [answer(ann.questions[-1])])
        await back.until(lambda: back.questions)
        assert back.rounds == 1, "from the second round it plays itself"
        assert [notice.seat for notice in ann.notices if notice.kind is NoticeKind.BACK] == [seat]
        await ann.until(lambda: ann.reports)
        assert ann.reports[0].counts == (True, True), "a fifth of the rounds was the house bot's"
    for name in ("ann", "bob"):
        (moment,) = store.now(partial(history, bot=name, ladder_id=GAME.name))
        assert moment.deviation < 150


async def test_the_strongest_house_bot_of_the_game_plays_on(hall: Hall, players: list[Bot]) -> None:
    ann, bob, _ = players
    bob.answers = False
    async with hall.open(ann, bob, house_bots=[HouseBot("house-weak"), HouseBot("house-strong")]):
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        await ann.until(lambda: NoticeKind.SUBSTITUTED in ann.kinds())
        assert ann.notices[1].text == "house-strong plays the seat of bob on"
