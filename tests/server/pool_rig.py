"""Shared parts of the tests of worker processes: questions of real games, and checks of processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Final, NamedTuple

import trio

from arena.house import HOUSE_BOTS, THINKERS, HouseBot
from arena.match.effects import Ask
from arena.server.runtime.turns import Turns
from arena.server.workers.pool import WorkerPool
from engine.deal import SeededDecks
from engine.game import OVER
from engine.registry import GAMES
from tests.processes.children import children, runs

PATIENCE = 300
"""Seconds after which a test fails. A match of two searching bots can take a minute on a busy machine."""
WORKER = "arena.house.worker"
FREE: Final = -1.0
"""A value of `away` in seconds that the cost of every question exceeds, so that workers make all choices."""


class Case(NamedTuple):
    """A question, and the bot's answer in this process."""

    bot: HouseBot
    ask: Ask
    chance: bytes
    action: int


def cases(game: str, seats: int, most: int) -> list[Case]:
    """Return the first questions of a game between its three weakest house bots, in turn."""
    bots = HOUSE_BOTS[game][:3]
    state, found = GAMES[game].new(seats, SeededDecks(bytes([seats]) * 32)), list[Case]()
    while len(found) < most and state.player != OVER:
        bot, seat = bots[len(found) % len(bots)], state.player
        view, legal, chance = state.view(seat), state.legal(seat), sha256(bytes([len(found) % 256])).digest()
        action = bot.decide(view, legal, chance)
        found.append(Case(bot, Ask(seat, len(found) + 1, legal, view, 0, 0), chance, action))
        state.apply(action, seat)
    return found


NULLERN: Final = cases("nullern", 4, 150)
HARD: Final = next(case for case in NULLERN if case.bot in THINKERS and len(case.ask.legal) > 1)
"""A question that goes to a worker."""


class Client:
    """A client of a pool that records the answers."""

    def __init__(self, pool: WorkerPool, turns: Turns) -> None:
        self.pool = pool
        self.turns = turns
        self.actions: dict[int, int] = {}
        self.later = 0
        """Number of answers that did not come at once."""
        self._told = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Client with {len(self.actions)} answers, {self.later} of them later; workers {workers_of()}>"

    def ask(self, case: Case) -> None:
        action = self.pool.choose(case.bot, 1, case.ask, "play", case.chance, self._take)
        if action is not None:
            self.actions[case.ask.decision] = action

    async def until(self, answers: int) -> None:
        with trio.fail_after(PATIENCE):
            while len(self.actions) < answers:
                await self._told.park()

    async def up(self, workers: int = 1) -> None:
        """Start a number of workers. Wait until they are ready."""
        self.pool.choose(HARD.bot, 0, HARD.ask, "play", HARD.chance, lambda *_: None)
        await until(lambda: len(self.pool._workers) == workers)

    def _take(self, ask: Ask, action: int) -> None:
        assert ask.decision not in self.actions, "a question is answered once"
        self.actions[ask.decision] = action
        self.later += 1
        self._told.unpark_all()


@asynccontextmanager
async def working(size: int, away: float = FREE) -> AsyncIterator[Client]:
    """Run a pool. By default its workers get all questions once they are ready, because every cost exceeds `FREE`."""
    turns = Turns(lambda: None, 0.0)
    pool = WorkerPool(size, turns, away)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pool.run)
        nursery.start_soon(turns.run)
        yield Client(pool, turns)
        nursery.cancel_scope.cancel()


def workers_of(parent: int | None = None) -> list[int]:
    """Return the worker processes that a process started, by default this one."""
    return children(os.getpid() if parent is None else parent, WORKER)


def alive(process: int) -> bool:
    """Return True if a worker with this number runs."""
    return runs(process, WORKER)


async def until(condition: Callable[[], object]) -> None:
    with trio.fail_after(PATIENCE):
        while not condition():
            await trio.sleep(0.01)
