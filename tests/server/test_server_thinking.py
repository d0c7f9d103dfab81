"""House bots that use worker processes, in whole matches of a server: real processes, real time."""

from __future__ import annotations

import os
import signal

import pytest
import trio

from arena.match.inputs import Restored
from arena.server.matches.driver import MatchDriver
from arena.server.sessions.player import HousePlayer
from arena.server.workers.pool import WorkerPool
from engine.game import Game
from engine.registry import GAMES
from tests.server.house_rig import choices, thinking
from tests.server.pool_rig import until
from tests.server.server_rig import Bot, MemoryStore, answer, replay_of

pytestmark = pytest.mark.process


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
async def test_matches_are_the_same_as_with_house_bots_in_the_server(
    store: MemoryStore, game: Game, nursery: trio.Nursery
) -> None:
    ann = Bot(store.register("ann"), games=(game.name,))
    async with thinking(store, game, 4) as arena:
        nursery.start_soon(ann.attend, arena)
        await ann.until(lambda: ann.reports)
    made = list(choices(replay_of(store)))
    assert [chosen for chosen, _ in made] == [due for _, due in made]
    assert len(made) >= 8, "a choice a round at least"


async def owes(pool: WorkerPool, bot: Bot) -> bool:
    """Answer for the bot while the worker is stopped. Return True if the worker owes a choice and the bot does not."""
    asked = len(bot.questions)
    bot.line.say(answers=[answer(bot.questions[-1])])
    await until(lambda: pool._workers[0].thoughts or len(bot.questions) > asked)
    return bool(pool._workers[0].thoughts)


async def stopped_thinking(pool: WorkerPool, bot: Bot) -> int:
    """Run until the worker owes a choice. Stop its process, and return the process id."""
    while True:
        process = pool._workers[0].pid
        os.kill(process, signal.SIGSTOP)
        if await owes(pool, bot):
            return process
        os.kill(process, signal.SIGCONT)


async def killed_thinking(pool: WorkerPool, bot: Bot) -> None:
    """Run until the worker owes a choice, and kill it. Wait until another worker has made the choice."""
    process = await stopped_thinking(pool, bot)
    asked = len(bot.questions)
    os.kill(process, signal.SIGKILL)
    await bot.until(lambda: len(bot.questions) > asked)
    assert pool._workers[0].pid != process


async def test_a_match_goes_on_when_its_worker_is_killed_while_it_thinks(
    store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann = Bot(store.register("ann"), games=("nullern",))
    ann.answers = False
    async with thinking(store, GAMES["nullern"], 4) as arena:
        pool = arena._lifecycle._pool
        nursery.start_soon(ann.attend, arena)
        await ann.until(lambda: ann.questions)
        for _ in range(3):
            await killed_thinking(pool, ann)
        ann.answers = True
        ann.line.say(answers=[answer(ann.questions[-1])])
        await ann.until(lambda: ann.reports)
    made = list(choices(replay_of(store)))
    assert [chosen for chosen, _ in made] == [due for _, due in made]


async def test_a_question_a_house_bot_had_not_answered_is_put_again_by_the_next_server(
    store: MemoryStore, nursery: trio.Nursery
) -> None:
    game = GAMES["nullern"]
    ann = Bot(store.register("ann"), games=("nullern",))
    ann.answers = False
    async with thinking(store, game, 4) as arena, trio.open_nursery() as first:
        first.start_soon(ann.attend, arena)
        await ann.until(lambda: ann.questions)
        stopped = await stopped_thinking(arena._lifecycle._pool, ann)
        (table,) = arena._lifecycle.drivers
        assert isinstance(table, MatchDriver)
        await arena.drain(0)
        first.cancel_scope.cancel()
        house = [seat for seat, player in enumerate(table.players) if isinstance(player, HousePlayer)]
        assert any(table._match.open_decision(seat) for seat in house)
        os.kill(stopped, signal.SIGCONT)
    store.reopen()
    ann = Bot(ann.row, games=ann.hello.games)
    async with thinking(store, game, 4) as arena:
        nursery.start_soon(ann.attend, arena)
        await ann.until(lambda: ann.reports)
    replay = replay_of(store)
    assert sum(isinstance(event, Restored) for event in replay.inputs) == 1
    made = list(choices(replay))
    assert [chosen for chosen, _ in made] == [due for _, due in made]
