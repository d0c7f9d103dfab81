"""Bots that lose their sessions because a process of the server ends: clocks stop, and a return costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio

from arena.house import HouseBot as AnyHouseBot
from arena.match.effects import Ask
from arena.match.inputs import Acted
from arena.server.arena import Arena
from arena.server.sessions.messages import NoticeKind
from arena.server.sessions.player import BotPlayer, cut_off
from arena.server.workers.pool import WorkerPool
from arena.store.bots import bots
from tests.server.server_rig import Bot, Hall, HouseBot, MemoryStore, replay_of

pytestmark = pytest.mark.virtual_clock


def take_away(arena: Arena, *lost: Bot) -> None:
    """Handle the end of a process that had the sessions of these bots."""
    found = [arena.players.get(bot.row.id) for bot in lost]
    with arena.turns:
        cut_off([bot_player for bot_player in found if isinstance(bot_player, BotPlayer)], trio.current_time())
    for bot in lost:
        bot.line.vanish()


async def test_who_comes_back_goes_on_and_others_are_told_of_a_hold_only(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = Bot(store.register("ann"), capacity=3), Bot(store.register("bob"), capacity=3)
    ann.answers = bob.answers = False
    async with hall.open(ann, bob) as arena:
        await ann.until(lambda: len(ann.starts) == 3)
        asked = len(bob.questions)
        take_away(arena, ann)
        back = ann.again()
        hall.join(back)
        await back.until(lambda: len(back.starts) == 3)
        await trio.sleep(1)
        assert len(bob.questions) == asked, "what he has is not put to him again"
        assert {*bob.kinds()} == {NoticeKind.HELD, NoticeKind.RELEASED}
        assert bob.kinds().count(NoticeKind.HELD) == 3
        row = store.now(partial(bots.find, name="ann"))
        assert row is not None
        assert row.troubles == ()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("cut", [True, False])
async def test_who_does_not_come_back_is_charged_once_as_for_a_lost_connection(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery, cut: bool
) -> None:
    ann = Bot(store.register("ann"), capacity=5)
    ann.answers = False
    async with hall.open(ann, house_bots=[HouseBot("house-a")], house=True) as arena:
        await ann.until(lambda: len(ann.questions) >= 5)
        if cut:
            take_away(arena, ann)
        else:
            ann.line.vanish()
        await trio.sleep(600)
        row = store.now(partial(bots.find, name="ann"))
        assert row is not None
        assert (len(row.troubles), row.parked) == (1, None)
        nursery.cancel_scope.cancel()


async def test_who_is_lost_while_the_match_is_begun_is_waited_for(
    hall: Hall, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, ann: Bot, bob: Bot
) -> None:
    ann.answers = bob.answers = False
    async with hall.open() as arena:
        persistence: Any = arena._lifecycle._persistence
        begin = persistence.begin

        async def slow(*of: Any) -> None:
            await begin(*of)
            await trio.sleep(1)

        monkeypatch.setattr(persistence, "begin", slow)
        hall.join(ann, bob)
        await ann.until(lambda: ann.invitations)
        await trio.sleep(0.5)
        take_away(arena, ann)
        await bob.until(lambda: bob.starts)
        await trio.sleep(1)
        assert bob.kinds() == [NoticeKind.HELD]
        back = ann.again()
        hall.join(back)
        await trio.sleep(1)
        assert bob.kinds() == [NoticeKind.HELD, NoticeKind.RELEASED]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("silent", [0, 4])
async def test_invitations_of_bots_that_the_server_lost_keep_nobody_away(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery, silent: float
) -> None:
    """The second bot's matches end with the first bot's before it has answered; after a while both owe an answer."""
    both = [Bot(store.register(name), capacity=8) for name in ("ann", "bob")]
    async with hall.open() as arena:
        for bot in both:
            bot.accepts = False
            hall.join(bot)
        for bot in both:
            await bot.until(lambda bot=bot: len(bot.invitations) == 8)  # type: ignore[misc]
        await trio.sleep(silent)
        take_away(arena, *both)
        await trio.sleep(0.1)
        began, back = trio.current_time(), [bot.again() for bot in both]
        for bot in back:
            hall.join(bot)
        for bot in back:
            await bot.until(partial(len, bot.reports))
        assert trio.current_time() - began < 1, "nobody pauses"
        assert not any(sum(arena.players.availability(bot.row.id).failed.values()) for bot in back)
        nursery.cancel_scope.cancel()


@pytest.mark.sources_only("it replaces a method")
async def test_a_choice_of_a_house_bot_that_is_on_its_way_is_not_asked_for_again_at_a_hold(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, ann: Bot
) -> None:
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        asked: list[int] = []

        async def think(ask: Ask, later: Callable[[Ask, int], None]) -> None:
            await trio.sleep(1)
            with arena.turns:
                later(ask, ask.legal[0])

        def choose(_: WorkerPool, bot: AnyHouseBot, match_id: int, ask: Ask, *rest: Any) -> None:
            asked.append(ask.decision)
            nursery.start_soon(think, ask, rest[-1])

        monkeypatch.setattr(WorkerPool, "choose", choose)
        hall.join(ann)
        with trio.fail_after(60):
            while not asked:
                await trio.sleep(0.1)
        take_away(arena, ann)
        back = ann.again()
        hall.join(back)
        await back.until(partial(len, back.reports))
        assert len(asked) == len({*asked}) >= 2
        await trio.sleep(2)
        nursery.cancel_scope.cancel()
    made = [event.decision for event in replay_of(store).inputs if isinstance(event, Acted)]
    assert len(made) == len({*made})
