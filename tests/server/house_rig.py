"""Shared parts of the tests of house bots that use workers: a server with workers, and the expected choices."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, cast

from arena.house import named_bots
from arena.match.effects import Ask
from arena.match.inputs import Acted, Restored, StoodIn
from arena.match.match import Match
from arena.replay.replay import Replay
from arena.server.arena import Arena, open_arena
from arena.store.store import Store
from engine.deal import SeededDecks, match_key
from engine.game import Game
from tests.server.pool_rig import FREE, Client
from tests.server.server_rig import MemoryStore, config


@asynccontextmanager
async def thinking(store: MemoryStore, game: Game, seats: int, **changes: Any) -> AsyncIterator[Arena]:
    """Run a server with house bots at every table and one worker for them."""
    settings: dict[str, Any] = {"house": True, "house_workers": 1, "house_search": 0.0, "patience": 0.0} | changes
    async with open_arena(config(games=(game,), seats=(seats,), **settings), cast("Store", store)) as arena:
        pool = arena._lifecycle._pool
        pool._away = FREE
        if settings["house_workers"]:
            await Client(pool, arena.turns).up()
        yield arena
        await arena.drain(0)


def choices(replay: Replay) -> Iterator[tuple[int, int]]:
    """Return the choices of house bots in a match, and the expected choices, which this process makes for the same
    questions.
    """
    header = replay.header
    key = match_key(header.seed, header.nonces)
    match = Match(header.game, len(header.bots), header.options, SeededDecks(key), header.policy)
    house = {bot.name: bot for bot in named_bots(header.game.name)}
    asks: dict[int, Ask] = {}
    stand_in, removed = header.stand_in, tuple[int, ...]()
    for event in replay.inputs:
        if isinstance(event, StoodIn) or (isinstance(event, Acted) and header.bots[event.seat].house):
            ask = asks.pop(event.decision)  # answer the question only once
            stands_in = isinstance(event, StoodIn) or event.seat in removed
            name = stand_in.split()[0] if stands_in else header.bots[event.seat].name
            yield event.action, house[name].decide(ask.view, ask.legal, sha256(key + ask.decision.to_bytes(4)).digest())
        elif isinstance(event, Restored):
            stand_in, removed = event.stand_in or stand_in, event.removed
        asks |= {effect.decision: effect for effect in match.receive(event) if isinstance(effect, Ask)}
