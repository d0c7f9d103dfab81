"""Three ladders of one game on a server with its database and processes: play on one ladder changes nothing on another.

The test compares every row and every value in memory that has a ladder as its key, before and after bots play.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from sqlalchemy import Connection, func, select

from arena.house import HOUSE_BOTS
from arena.scheduling.pace import Pace
from arena.server.arena import Arena, open_arena
from arena.server.config import LadderTable, quota_in_force
from arena.server.ratings.fit_client import open_fit_client
from arena.server.sessions import kept_paces
from arena.server.sessions.messages import Outgoing
from arena.store import schema
from arena.store.bots import bots
from arena.store.ladder import baselines, events, publishing
from arena.store.ladder.rebuild import verify
from arena.store.log.audit import audit
from arena.store.store import Store, open_store
from engine.registry import GAMES
from tests.server.server_rig import POLICY, Bot, config

pytestmark = pytest.mark.process

GAME: Final = GAMES["nullern"]
LADDERS: Final = (GAME.name, "slow", "closed")
FURTHER: Final = (
    LadderTable(GAME, (2,), name="slow", policy={"soft_limit": 5_000_000}, house=True),
    LadderTable(GAME, (2,), name="closed"),
)
PATIENCE: Final = 120.0
SETTINGS: Final[Mapping[str, Any]] = {
    "games": (GAME,),
    "ladders": FURTHER,
    "house": False,
    "house_workers": 1,
    "house_search": 0.0,
    "pair_quota": 2,
    "park_after": 1,
    "fit_seconds": 0.2,
    "policy": replace(POLICY, newcomer_grace=50_000),
}
LOOKED_INTO: Final = ("arena.durations", "arena.scheduling.", "arena.ladder.", "arena.server.matchmaking.")
"""Prefixes of the names of modules whose objects are compared by their attributes."""
CHANGED: Final = {
    *("matches", "rated_results", "ratings", "pair_days", "baselines", "paces"),
    *("ladders", "standings", "kept_ladders"),
}
"""The tables of a ladder that change when bots play on it."""
CACHES: Final = {
    *("matchmaker._queues", "players._paces", "publisher._through", "publisher.fits"),
    *("figures.matches", "figures.decisions", "figures.thinking"),
}
"""The values that a server has in memory for each ladder with at least one match."""


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[tuple[Store, Arena]]:
    settings = config(**SETTINGS)
    async with (
        open_store(path, 1) as store,
        open_fit_client(path, quota_in_force(settings)) as fit_client,
        open_arena(settings, store, HOUSE_BOTS, fit_client) as arena,
    ):
        yield store, arena


def rows(connection: Connection, ladder: str) -> dict[str, Any]:
    """The rows of a ladder in every table with a ladder column, and the parking on the default ladder."""
    keys = (ladder, "") if ladder == GAME.name else (ladder,)
    found: dict[str, Any] = {}
    for table in schema.metadata.tables.values():
        if "ladder" in table.c:
            found[table.name] = connection.execute(select(table).where(table.c.ladder.in_(keys))).all()
    own = schema.bots.c
    if ladder == GAME.name:
        parking = select(own.name, own.troubles, own.parked, own.forgiven).where(own.parked.is_not(None))
        found["bots"] = connection.execute(parking).all()
    return found


def content(value: object) -> object:
    """A value for comparison. Objects of other modules are represented by their type."""
    if isinstance(value, Mapping):
        return [(content(key), content(each)) for key, each in value.items()]
    if isinstance(value, list | tuple | deque | set | frozenset):
        return [content(each) for each in value]
    if type(value).__module__.startswith(LOOKED_INTO):
        return [(name, content(each)) for name, each in attributes(value)]
    return value if isinstance(value, str | int | float | bytes | None) else type(value).__name__


def attributes(value: object) -> Iterable[tuple[str, Any]]:
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    names = [*vars(value)] if hasattr(value, "__dict__") else slots
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def cached(arena: Arena, ladder: str) -> dict[str, object]:
    """The values that the server has in memory under a ladder's name or id, by their location."""
    keys, found, seen = {ladder, ""} if ladder == GAME.name else {ladder}, dict[str, object](), set[int]()

    def visit(place: str, value: object) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, Mapping):
            for key, each in value.items():
                if isinstance(each, Pace) and not each.known:
                    continue  # a bot that has not played on that ladder
                if keys & {*(key if isinstance(key, tuple) else (key,))}:
                    found[f"{place}[{key!r}]"] = content(each)
                else:
                    visit(place, each)
        elif type(value).__module__.startswith(("arena.server.", "arena.scheduling.")):
            for name, each in attributes(value):
                visit(f"{place}.{name}", each)

    for name, each in vars(arena).items():
        visit(name, each)
    return found


def bot_of(name: str) -> Callable[[Connection], bots.Bot]:
    return partial(bots.find, name=name)


class Leaver(Bot):
    """A bot that vanishes at its first question. A house bot replaces it, and it is parked."""

    def hear(self, message: Outgoing) -> None:
        super().hear(message)
        if self.questions:
            self.line.vanish()


async def until(done: Callable[[], Any]) -> None:
    with trio.fail_after(PATIENCE):
        while not await done():
            await trio.sleep(0.02)


async def settled(store: Store, arena: Arena, ladder: str) -> bool:
    """True if all results of a season are published with their baselines and all paces of the ladder are stored."""
    ladder_id, keys = arena.ladder_ids[ladder], ("",) if ladder == GAME.name else (ladder,)

    def stored(connection: Connection) -> bool:
        through, replayed = publishing.through(connection, ladder_id), publishing.replayed(connection, ladder_id)
        missing = baselines.missing(connection, ladder_id, 1)
        return events.newest(connection, ladder_id) == through and through >= replayed > 0 and not missing

    def saved(connection: Connection) -> list[tuple[int, float]]:
        kept = select(schema.paces.c.bot_id, schema.paces.c.balance).where(schema.paces.c.ladder.in_(keys))
        return sorted((row.bot_id, row.balance) for row in connection.execute(kept))

    paces = [(bot, each.balance) for (on, bot), each in arena.players.paces() if on in keys and each.known]
    waits = arena.publisher._news[ladder_id] or arena.publisher._replays[ladder_id] or arena.publisher._turn.locked()
    published = not waits and await store.read(stored) and not arena.publisher._turn.locked()
    return published and await store.read(saved) == sorted(paces)


async def play(store: Store, arena: Arena, ladders: tuple[str, ...], *others: Bot, together: int = 0) -> None:
    """Let Ann and Bob play on ladders, some matches at the same time (`together`), until all data about them is
    stored.
    """
    players = [Bot(await store.read(bot_of(name)), games=(GAME.name,)) for name in ("ann", "bob")]
    async with trio.open_nursery() as nursery:
        for bot in [*players, *others]:
            bot.known = False
            named = () if ladders == (GAME.name,) else ladders
            bot.hello = bot.hello._replace(ladders=named, capacity=3 * len(ladders))
            nursery.start_soon(bot.attend, arena)

        async def enough() -> bool:
            for ladder in ladders:
                named = "" if ladder == GAME.name else ladder
                began = [start.bots for start in players[0].starts if start.ladder == named]
                if len(began) < 3 or sum({"ann", "bob"} == {*seats} for seats in began) < together:
                    return False
            return all(other.end is not None for other in others)

        async def over() -> bool:
            return arena.playing == 0 and all([await settled(store, arena, ladder) for ladder in ladders])

        await until(enough)
        for bot in players:
            bot.line.say(capacity=0)
        await until(over)
        for bot in players:
            bot.line.half_close()


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


@pytest.mark.sources_only("it looks into the server's objects")
async def test_what_happens_on_a_ladder_stays_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_paces, "EVERY", 0.05)
    async with served(tmp_path) as (store, arena):
        for name in ("ann", "bob", *LADDERS):
            await store.write(partial(bots.register, name=name, owner="", at=1))

        async def state(ladder: str) -> tuple[dict[str, object], dict[str, object]]:
            return await store.read(partial(rows, ladder=ladder)), cached(arena, ladder)

        for ladder in LADDERS:
            before = {each: await state(each) for each in LADDERS}
            leaver = Leaver(await store.read(bot_of(ladder)), games=(GAME.name,))
            await play(store, arena, (ladder,), leaver, together=2)
            for each in LADDERS:
                stored, remembered = await state(each)
                changed = differences(before[each][0], stored), differences(before[each][1], remembered)
                if each != ladder:
                    assert changed == (set(), set()), f"play on {ladder} changed {each}"
                    continue
                assert changed[0] == CHANGED | {"bots" if each == GAME.name else "bot_ladders"}
                parked = set() if each == GAME.name else {"accounts._parked"}
                assert {place.partition("[")[0] for place in changed[1]} == CACHES | parked
                assert arena.matchmaker._queues[each].spent.of((await store.read(bot_of("ann"))).id, 0)

        await play(store, arena, LADDERS)
        before = {each: await state(each) for each in LADDERS}
        results = await store.read(lambda connection: [*events.read(connection, "slow")])
        await arena.void(results[0].match_id, "a test")
        await until(partial(settled, store, arena, "slow"))
        found = {each: differences(before[each][0], (await state(each))[0]) for each in LADDERS}
        assert [bool(found[each]) for each in LADDERS] == [False, True, False]

        season = await arena.begin_season("closed")
        before = {each: await state(each) for each in LADDERS}
        await play(store, arena, ("closed",), together=2)
        for each in LADDERS:
            new = differences(before[each][0], (await state(each))[0])
            assert new == ({"paces"} if each == "closed" else set()), "nothing of the first season changes"
        for ladder_id in (*LADDERS, season.id):
            assert (await store.read(partial(verify, ladder_id=ladder_id))).identical
        both = schema.matches.join(schema.rated_results)
        wrong = select(func.count()).select_from(both).where(schema.matches.c.ladder != schema.rated_results.c.ladder)
        assert await store.read(lambda connection: connection.scalar(wrong)) == 0
        assert (await store.read(partial(audit, replays=True))).faults == []
