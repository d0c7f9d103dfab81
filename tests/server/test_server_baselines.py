"""Baselines on a running server: the house bots' scores from its workers, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from sqlalchemy import Connection, update
from structlog.testing import capture_logs

from arena.house import HOUSE_BOTS, THINKERS
from arena.house.selfplay import baseline
from arena.queries.events import BundleDiffersError, check_baselines, verify_bundle
from arena.replay.read import read
from arena.server.arena import Arena, open_arena
from arena.server.ratings.fit_client import open_fit_client
from arena.server.runtime.turns import Turns
from arena.server.runtime.wall_clock import now_us
from arena.server.workers import baselines as server_baselines
from arena.server.workers.baselines import Baselines
from arena.server.workers.pool import ReplayFailed, WorkerPool
from arena.store import schema
from arena.store.base.errors import NameTaken, StoreError
from arena.store.bots import bots
from arena.store.ladder import baselines, events
from arena.store.ladder.publishing import as_published
from arena.store.ladder.rebuild import verify
from arena.store.ladder.standings import standings
from arena.store.log.audit import audit
from arena.store.matches import contests, matches
from arena.store.matches.contests import EventPlan
from arena.store.matches.event_documents import bundle
from arena.store.opening import open_readonly
from arena.store.store import Store, open_store
from engine.deal import match_key
from engine.registry import GAMES
from tests.server.pool_rig import workers_of
from tests.server.server_rig import Bot, config

pytestmark = pytest.mark.process

PATIENCE = 60.0
NULLERN = "nullern"


@asynccontextmanager
async def real(path: Path, **changes: Any) -> AsyncIterator[tuple[Store, Arena]]:
    """A Nullern server with a database, a worker and a fit process."""
    settings = {"games": (GAMES[NULLERN],), "seats": (3,), "house_workers": 1, "fit_seconds": 0.2} | changes
    async with (
        open_store(path, 1) as store,
        open_fit_client(path) as fit_client,
        open_arena(config(**settings), store, HOUSE_BOTS, fit_client) as arena,
    ):
        yield store, arena


async def play(store: Store, arena: Arena, count: int) -> None:
    """Store a number of matches between three bots."""
    rows = [await store.write(partial(bots.register, name=name, owner="", at=1)) for name in ("ann", "bob", "cleo")]
    players = [Bot(row.bot, games=(NULLERN,)) for row in rows]
    async with trio.open_nursery() as nursery:
        for player in players:
            nursery.start_soon(player.attend, arena)
        with trio.fail_after(PATIENCE):
            await players[0].until(lambda: len(players[0].reports) >= count)
        nursery.cancel_scope.cancel()


async def until(store: Store, done: Any) -> None:
    with trio.fail_after(PATIENCE):
        while not await store.read(done):
            await trio.sleep(0.02)


def replayed(connection: Connection) -> list[int]:
    return [match.match_id for match in baselines.read(connection, NULLERN)]


def results(connection: Connection) -> list[int]:
    return [event.match_id for event in events.read(connection, NULLERN)]


def all_replayed(connection: Connection) -> bool:
    return len(replayed(connection)) == len(results(connection))


async def test_every_match_gets_the_baseline_that_replaying_it_gives(tmp_path: Path) -> None:
    async with real(tmp_path) as (store, arena):
        await play(store, arena, 6)
        await until(store, all_replayed)
        found = await store.read(lambda connection: list(baselines.read(connection, NULLERN)))
        assert [match.number for match in found] == list(range(1, len(found) + 1))
        for match in found:
            header = read(await store.read(partial(matches.get_replay, match_id=match.match_id))).header
            key = match_key(header.seed, header.nonces)
            house = [bot for bot in THINKERS if bot.game == NULLERN]
            scores = [baseline(header.game, 3, header.options, key, None, 1, bot) for bot in house]
            assert match.baselines == tuple(sum(seat) for seat in zip(*scores, strict=True))
            row = await store.read(partial(matches.get_match, match_id=match.match_id))
            assert match.scores == tuple(seat.score for seat in row.seats)
            assert match.kind.house == ", ".join(f"{bot.name} {bot.version}" for bot in house)

        def published(connection: Connection) -> bool:
            ladder = as_published(connection, NULLERN)
            return ladder is not None and ladder.replayed == len(found) == ladder.through

        await until(store, published)
        assert (await store.read(partial(verify, ladder_id=NULLERN))).identical
        lines = await store.read(partial(standings, ladder_id=NULLERN))
        assert [line.luck.matches for line in lines if line.luck] == [len(found)] * 3


async def test_no_match_is_replayed_without_workers_or_where_it_is_off(tmp_path: Path) -> None:
    for changes in ({"house_workers": 0}, {"luck": frozenset({"sixth_sense"})}):
        path = tmp_path / str(len(changes["luck"]) if "luck" in changes else 0)  # type: ignore[arg-type]  # a set
        async with real(path, **changes) as (store, arena):
            await play(store, arena, 2)
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert await store.read(replayed) == []
            assert workers_of() == []


async def test_a_killed_worker_costs_no_baseline(tmp_path: Path) -> None:
    async with real(tmp_path) as (store, arena):
        await play(store, arena, 2)
        await until(store, lambda connection: replayed(connection) != [])
        for worker in workers_of():
            os.kill(worker, signal.SIGKILL)
        await until(store, all_replayed)


async def test_what_a_server_left_its_successor_replays(tmp_path: Path) -> None:
    async with real(tmp_path, luck=frozenset()) as (store, arena):
        await play(store, arena, 4)
    async with real(tmp_path) as (store, _):
        await until(store, all_replayed)
        assert await store.read(replayed) == await store.read(results)


async def test_of_what_was_left_only_the_last_are_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_baselines, "MOST_WAITING", 2)
    async with real(tmp_path, luck=frozenset()) as (store, arena):
        await play(store, arena, 4)
    async with real(tmp_path) as (store, _):
        await until(store, lambda connection: len(replayed(connection)) == 2)
        assert await store.read(replayed) == (await store.read(results))[-2:]


class Busy(WorkerPool):
    """Workers that are always busy, or that fail."""

    def __init__(self, fails: bool) -> None:
        super().__init__(1, Turns(lambda: None, 0.0))
        self.asked: list[bytes] = []
        self._fails = fails

    async def baseline(self, game: Any, seats: int, options: Any, key: bytes, *rest: Any) -> tuple[float, ...]:
        self.asked.append(key)
        if self._fails:
            raise ReplayFailed("2 workers ended over it")
        await trio.sleep_forever()
        raise AssertionError


@pytest.mark.sources_only("it needs a subclass")
async def test_while_too_many_wait_the_newest_go_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_baselines, "MOST_WAITING", 3)
    async with real(tmp_path, luck=frozenset()) as (store, arena):
        await play(store, arena, 1)
        (number, *_) = await store.read(results)
        header = read(await store.read(partial(matches.get_replay, match_id=number))).header
    settings = config(games=(GAMES[NULLERN],), seats=(3,), house_workers=1)
    async with open_store(tmp_path, 1) as store, trio.open_nursery() as nursery:
        waiting = Baselines(settings, store, Busy(fails=False), lambda _: None)
        with capture_logs() as logs:
            for _ in range(5):
                waiting.finished(header)
        assert [line["event"] for line in logs] == ["the workers are busy: a match gets no luck baseline"] * 2
        failing = Busy(fails=True)
        waiting = Baselines(settings, store, failing, lambda _: None)
        with capture_logs() as logs:
            nursery.start_soon(waiting.run)
            with trio.fail_after(PATIENCE):
                while not failing.asked:
                    await trio.sleep(0.01)
        assert await store.read(replayed) == []
        busy = Busy(fails=False)
        waiting = Baselines(settings, store, busy, lambda _: None)
        nursery.start_soon(waiting.of_event, number, waiting.house(NULLERN))
        with trio.fail_after(PATIENCE):
            while not busy.asked:
                await trio.sleep(0.01)
        waiting.finished(header)
        nursery.start_soon(waiting.run)
        await trio.testing.wait_all_tasks_blocked(0.1)
        assert len(busy.asked) == 1, "a rated match waits while one of an event is replayed"
        nursery.cancel_scope.cancel()
    assert {line["event"] for line in logs} == {"deals not replayed"}


async def test_a_store_in_trouble_and_a_damaged_replay_cost_no_more_than_they_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_baselines, "RETRY", 0.01)
    async with real(tmp_path, luck=frozenset()) as (store, arena):
        await play(store, arena, 3)
        first, *others = await store.read(results)
        damaged = schema.replays.c.match_id == first
        await store.write(
            lambda connection: connection.execute(update(schema.replays).where(damaged).values(segment=99))
        )
        writes, write = [StoreError("the disk is full"), None], store.write

        async def failing(job: Any) -> Any:
            stores_a_baseline = getattr(job, "func", None) is baselines.add  # a fit may be stored meanwhile
            if stores_a_baseline and writes and (trouble := writes.pop(0)) is not None:
                raise trouble
            return await write(job)

        monkeypatch.setattr(store, "write", failing)
        told: list[str] = []
        pool = WorkerPool(1, Turns(lambda: None, 0.0))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.run)
            with capture_logs() as logs:
                nursery.start_soon(
                    Baselines(config(games=(GAMES[NULLERN],), house_workers=1), store, pool, told.append).run
                )
                await until(store, lambda connection: replayed(connection) == others)
            nursery.cancel_scope.cancel()
    assert [line["event"] for line in logs if line["log_level"] == "error"] == [
        "deals not replayed",
        "baseline not stored yet",
    ]
    assert {*told} <= {NULLERN}


@asynccontextmanager
async def playing(store: Store, arena: Arena) -> AsyncIterator[None]:
    """Let three bots play during the `with` block."""
    async with trio.open_nursery() as nursery:
        for name in ("ann", "bob", "cleo"):
            with suppress(NameTaken):
                await store.write(partial(bots.register, name=name, owner="", at=1))
            bot = Bot(await store.read(partial(bots.known, name=name)), games=(NULLERN,))
            nursery.start_soon(bot.attend, arena)
            await bot.until(lambda bot=bot: bot.welcome)  # type: ignore[misc]
        yield
        nursery.cancel_scope.cancel()


@pytest.mark.long
async def test_an_event_waits_for_baselines_that_anybody_computes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contests, "BASELINES_FROM", 2)
    monkeypatch.setattr(server_baselines, "RETRY", 0.01)
    data, reached, failed = tmp_path / "data", trio.Event(), [b""]
    own = WorkerPool.baseline

    async def forever(*_: Any) -> tuple[int, ...]:
        reached.set()
        await trio.sleep_forever()
        return ()

    async def failing(pool: WorkerPool, game: Any, seats: int, options: Any, key: bytes, *rest: Any) -> Any:
        failed[0] = failed[0] or key
        if key == failed[0]:
            raise ReplayFailed("a worker ended over it")
        return await own(pool, game, seats, options, key, *rest)

    async with real(data, house=True) as (store, arena), playing(store, arena):
        await until(store, lambda connection: len(replayed(connection)) >= 3)
        monkeypatch.setattr(Baselines, "of_event", forever)
        plan = EventPlan("friday", NULLERN, 3, "race", 3, None, "open", now_us() + 3_600_000_000)
        await arena.events.create(plan, ("ann", "bob", "cleo"))
        await arena.events.start("friday")
        with trio.fail_after(PATIENCE):
            await reached.wait()
    monkeypatch.undo()
    monkeypatch.setattr(WorkerPool, "baseline", failing)
    async with real(data, house=True) as (store, arena), playing(store, arena):
        await until(store, lambda connection: contests.find(connection, "friday").over)
        event = await store.read(partial(contests.find, name="friday"))
        tables = await store.read(partial(contests.tables, event_id=event.id))
    with open_readonly(data) as connection:
        assert audit(connection).faults == []
        lines = [*bundle(connection, "friday")]
    assert event.earlier.house.startswith("house-careful ")
    assert event.earlier.replayed >= 3
    assert [bool(table.played and table.played.baselines) for table in tables] == [False, True, True]
    file = tmp_path / "friday.bundle"
    file.write_text("".join(lines), "utf-8")
    assert verify_bundle(file)[2] == json.loads(event.result)
    house = tables[1].played.baselines if tables[1].played else ()
    header = read(b64decode(json.loads(lines[-2])["content"])).header
    with pytest.raises(BundleDiffersError, match=f"match {tables[1].match_id} has the baselines .*; its deals give"):
        check_baselines(header, event.earlier.house, tuple(points + 1 for points in house))
    check_baselines(header, "house-careful of another version", tuple(points + 1 for points in house))
