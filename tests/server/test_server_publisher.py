"""The ladder publisher: its fits and its published ladders. Its failures never stop a match."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import trio
import trio.testing
from sqlalchemy import Connection
from structlog.testing import capture_logs
from trio.testing import MockClock

from arena.ladder.events import Node
from arena.ladder.ladder import NO_QUOTA, FieldFigures, Figure, Ladder, LadderLine, Quota
from arena.processes import helper
from arena.scheduling.information_gain import MatchValues
from arena.server.arena import Arena, open_arena
from arena.server.config import quota_in_force
from arena.server.ratings import fit_client as fit_client_module
from arena.server.ratings import publisher
from arena.server.ratings.fit_client import FitClient, NotFitted, open_fit_client
from arena.server.runtime.wall_clock import now_us
from arena.store.base.directory import database_of
from arena.store.base.errors import NoResult, StoreError
from arena.store.bots import bots
from arena.store.ladder import events, versions
from arena.store.ladder.fits import recomputed
from arena.store.ladder.publishing import as_published, publish, through
from arena.store.ladder.rebuild import verify
from arena.store.matches import matches
from arena.store.nodes import NodeStart
from arena.store.store import Store, open_store
from engine.registry import GAMES
from tests.server.server_rig import GAME, Bot, MemoryStore, config
from tests.store.jobs import finish

PATIENCE = 120.0


async def until(done: Callable[[], Any]) -> None:
    """Poll until a condition holds, for conditions without an event."""
    with trio.fail_after(PATIENCE):
        while not await done():
            await trio.sleep(0.01)


def played(connection: Connection, count: int, seed: int = 0, game: str = GAME.name) -> list[int]:
    """Store finished matches of four bots."""
    chance = Random(seed)
    names = ["ann", "bob", "cleo", "dan"]
    if not bots.list_bots(connection):
        for name in names:
            bots.register(connection, name, "", 0)
    players = [bots.known(connection, name).id for name in names]
    numbers = []
    for _ in range(count):
        seated = chance.sample(players, chance.randint(2, 4))
        match = matches.begin(connection, game, {}, seated, 1)
        finish(connection, match, list(range(1, len(seated) + 1)))
        numbers.append(int(match))
    return numbers


@asynccontextmanager
async def real(path: Path, **changes: Any) -> AsyncIterator[tuple[Store, Arena]]:
    """Run a server with a database and a fit process."""
    async with (
        open_store(path, 1) as store,
        open_fit_client(path, quota_in_force(config(**changes)), await store.read(events.has_events)) as fit_client,
        open_arena(config(**{"fit_seconds": 3600.0, **changes}), store, fit_client=fit_client) as arena,
    ):
        yield store, arena


async def fitted(store: Store, number: int, game: str = GAME.name) -> None:
    """Wait until a ladder of at least this many events is published."""

    async def done() -> bool:
        return await store.read(partial(through, ladder_id=game)) >= number

    await until(done)


def workers(path: Path) -> list[int]:
    """Return the fit processes of a directory's ladders."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # the process has ended
            if b"arena.server.ratings.fit_process" in words and str(path).encode() in words:
                found.append(int(process.name))
    return found


@pytest.mark.process
async def test_what_an_earlier_server_left_is_fitted_at_once(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as store:
        await store.write(partial(played, count=20))
    async with real(tmp_path) as (store, _):
        await fitted(store, 20)
        ladder = await store.read(partial(as_published, ladder_id=GAME.name))
        assert ladder == await store.read(partial(recomputed, ladder_id=GAME.name, through=20))
        assert len(workers(tmp_path)) == 1
    assert workers(tmp_path) == []


@pytest.mark.process
async def test_enough_new_results_are_fitted_and_the_rest_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "LAST_FIT", PATIENCE)
    async with real(tmp_path, fit_matches=10) as (store, arena):
        for number in range(14):
            await store.write(partial(played, count=1, seed=number))
            arena.publisher.recorded(GAME.name)
            if number == 9:
                await fitted(store, 10)
        assert await store.read(partial(through, ladder_id=GAME.name)) == 10
    async with open_store(tmp_path, 1) as store:
        assert await store.read(partial(through, ladder_id=GAME.name)) == 14
        assert (await store.read(partial(verify, ladder_id=GAME.name))).identical


@pytest.mark.process
async def test_results_that_another_node_records_are_fitted_too(tmp_path: Path) -> None:
    start, usual = NodeStart(1, "127.0.0.1:1", "a program", "settings", (1, 2)), config(fit_seconds=3600.0)
    with database_of(tmp_path).locked() as lock:
        async with (
            open_store(tmp_path, 1, node=start, lock=lock) as store,
            open_fit_client(tmp_path, quota_in_force(usual)) as fit_client,
            open_arena(usual, store, fit_client=fit_client),
        ):
            await store.write(partial(played, count=20))
            await fitted(store, 20)


@pytest.mark.process
async def test_a_void_result_is_off_the_ladder_at_once(tmp_path: Path) -> None:
    async with real(tmp_path) as (store, arena):
        numbers = await store.write(partial(played, count=12))
        await arena.void(numbers[3], "the deal was known")
        await fitted(store, 13)
        ladder = await store.read(partial(as_published, ladder_id=GAME.name))
        assert ladder == await store.read(partial(recomputed, ladder_id=GAME.name, through=13))
        assert (await store.read(partial(matches.get_match, match_id=numbers[3]))).voided == "the deal was known"
        playing = await store.write(partial(matches.begin, game="x", options={}, bots=[bots.BotId(1)], at=1))
        with pytest.raises(NoResult):
            await arena.void(playing, "a test")


@pytest.mark.process
async def test_a_house_bot_that_holds_the_scale_alone_ends_no_server(tmp_path: Path) -> None:
    """The rating of such a bot is 1500 by definition."""

    def with_the_house(connection: Connection) -> None:
        played(connection, 1)
        [house] = bots.ensure_house_bots(connection, ["house-only"], 1)
        for other in ("ann", "bob", "cleo"):
            match = matches.begin(connection, GAME.name, {}, [house.id, bots.known(connection, other).id], 1)
            finish(connection, match, [1, 2])

    async with real(tmp_path, fit_matches=1) as (store, arena):
        await store.write(with_the_house)
        arena.publisher.recorded(GAME.name)

        async def told() -> bool:
            return len(arena.matchmaker._queues[GAME.name].match_values.known) == 5

        await until(told)
        ladder = await store.read(partial(as_published, ladder_id=GAME.name))
        assert ladder is not None
        assert 1500.0 in [line.rating for line in ladder.lines]


async def warm(fit_client: FitClient) -> None:
    async def done() -> bool:
        return fit_client.warm

    await until(done)


@pytest.mark.process
async def test_a_process_is_warm_before_the_first_fit_and_gives_way_to_matches(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as store:
        await store.write(partial(played, count=5))
        async with open_fit_client(tmp_path) as fit_client:
            await warm(fit_client)
            (worker,) = workers(tmp_path)
            assert os.getpriority(os.PRIO_PROCESS, worker) >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
            assert "/numpy/" in (Path("/proc") / str(worker) / "maps").read_text()
            assert (await fit_client.fit(GAME.name)).through == 5
            assert workers(tmp_path) == [worker]
    assert workers(tmp_path) == []


@pytest.mark.process
async def test_a_process_loads_libraries_with_the_first_results(tmp_path: Path) -> None:
    """The process that replaces it loads them, and reads the results, at its start."""

    async def warm() -> bool:
        return arena.publisher.warm

    def libraries() -> set[str]:
        (process,) = workers(tmp_path)
        maps = Path(f"/proc/{process}/maps").read_text()
        return {name for name in ("numpy", "scipy", "sqlalchemy") if f"/{name}/" in maps}

    async with real(tmp_path) as (store, arena):
        await until(warm)
        assert libraries() == set()
        await store.write(partial(played, count=20))
        arena.publisher.voided(GAME.name)
        await fitted(store, 20)
        assert libraries() == {"numpy", "scipy", "sqlalchemy"}
        (process,) = workers(tmp_path)
        os.kill(process, signal.SIGKILL)
        while arena.publisher.warm:
            await trio.sleep(0.01)
        await until(warm)
        assert libraries() == {"numpy", "scipy", "sqlalchemy"}


@pytest.mark.process
async def test_a_process_that_cannot_read_is_warm_all_the_same(tmp_path: Path) -> None:
    """A failure is reported with the first request, and only if the cause still exists then."""
    async with open_fit_client(tmp_path) as fit_client:
        await warm(fit_client)
        with pytest.raises(NotFitted, match=r"it has no arena\.db; a server started on it makes one"):
            await fit_client.fit(GAME.name)
        async with open_store(tmp_path, 1) as store:
            await store.write(partial(played, count=5))
            assert (await fit_client.fit(GAME.name)).through == 5


@pytest.mark.process
async def test_a_killed_process_is_started_anew(tmp_path: Path) -> None:
    async with real(tmp_path, fit_matches=1) as (store, arena):
        await store.write(partial(played, count=5))
        arena.publisher.recorded(GAME.name)
        await fitted(store, 5)
        (worker,) = workers(tmp_path)
        with capture_logs() as logs:
            os.kill(worker, signal.SIGKILL)
            await until(ended(logs))
            await store.write(partial(played, count=3))
            arena.publisher.recorded(GAME.name)
            await fitted(store, 8)

            async def logged() -> bool:
                return bool(logs[-1]["event"] == "ladder fitted")

            await until(logged)  # it is stored before it is logged
        events = [line["event"] for line in logs]  # the first fit may be logged only now, after it was stored
        end = events.index("the process that fits ladders ended")
        assert events[end:] == ["the process that fits ladders ended", "ladder fitted"]
        assert (logs[end]["process"], logs[end]["status"]) == (worker, -signal.SIGKILL)
        assert workers(tmp_path) != [worker]


def ended(logs: Sequence[Mapping[str, Any]]) -> Callable[[], Awaitable[bool]]:
    """Return True if the log reports the end of a process."""

    async def told() -> bool:
        return any(line["event"] == "the process that fits ladders ended" for line in logs)

    return told


SILENT = r"^the process that fits ladders failed \(no answer for \d+\.\d s\)$"


@pytest.mark.process
@pytest.mark.parametrize("seats", [0, 2])
async def test_a_process_that_does_not_answer_is_killed(
    seats: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_client_module, "LEAST_LIMIT", 1.0)
    async with open_store(tmp_path, 1) as store, open_fit_client(tmp_path) as fit_client:
        await store.write(partial(played, count=5))
        await warm(fit_client)
        await fit_client.fit(GAME.name)
        (worker,) = workers(tmp_path)
        os.kill(worker, signal.SIGSTOP)
        with capture_logs() as logs:
            with pytest.raises(NotFitted, match=SILENT):
                await fit_client.fit(GAME.name, seats)
            await until(ended(logs))
        assert logs[0]["status"] == -signal.SIGKILL
        assert "no answer for" in logs[0]["wrong"]
        assert worker not in workers(tmp_path)
        monkeypatch.undo()
        assert (await fit_client.fit(GAME.name)).through == 5


@pytest.mark.process
async def test_a_stopped_process_is_replaced_and_both_ladders_go_on_and_say_how_old_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "RETRY", 0.1)
    games = (GAME, GAMES["nullern"])
    async with real(tmp_path, games=games) as (store, arena):
        for game in games:
            await store.write(partial(played, count=5, game=game.name))
            arena.publisher.voided(game.name)
            await fitted(store, 5, game.name)
        (worker,) = workers(tmp_path)
        monkeypatch.setattr(fit_client_module, "LEAST_LIMIT", 1.0)
        os.kill(worker, signal.SIGSTOP)
        began = now_us()
        with capture_logs() as logs:
            for game in games:
                await store.write(partial(played, count=3, game=game.name))
                arena.publisher.voided(game.name)

            async def said() -> bool:
                return any(arena.publisher.unfitted(game.name) for game in games)

            await until(said)
            unfitted = next(filter(None, (arena.publisher.unfitted(game.name) for game in games)))
            assert re.match(SILENT, unfitted.why)
            assert began <= unfitted.since <= now_us()
            for game in games:
                await fitted(store, 8, game.name)

            async def silent() -> bool:
                return not await said()

            await until(silent)
        events = {line["event"] for line in logs}
        events.discard("matchmaking uses an older ladder")  # if the process got that request while it was stopped
        assert events == {"the process that fits ladders ended", "ladder not fitted", "ladder fitted"}
        assert worker not in workers(tmp_path)


@pytest.mark.process
async def test_a_ladder_of_some_tables_has_its_turn_soon_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_client_module, "ASIDE", 0.1)
    async with open_store(tmp_path, 1) as store, open_fit_client(tmp_path) as fit_client:
        await store.write(partial(played, count=5))
        await warm(fit_client)
        (worker,) = workers(tmp_path)
        os.kill(worker, signal.SIGSTOP)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fit_client.fit, GAME.name)
            await trio.testing.wait_all_tasks_blocked(0.01)
            busy = rf"has other work \(it fits {GAME.name}, for \d+ s already\); ask again later$"
            with pytest.raises(NotFitted, match=busy):
                await fit_client.fit(GAME.name, 2)
            os.kill(worker, signal.SIGCONT)
        assert (await fit_client.fit(GAME.name, 2)).through == 5


@pytest.mark.process
async def test_a_published_ladder_waits_for_one_of_some_tables_at_most(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as store, open_fit_client(tmp_path) as fit_client:
        await store.write(partial(played, count=5))
        await warm(fit_client)
        (worker,) = workers(tmp_path)
        done = list[int]()

        async def fit(seats: int) -> None:
            await fit_client.fit(GAME.name, seats)
            done.append(seats)

        os.kill(worker, signal.SIGSTOP)
        async with trio.open_nursery() as nursery:
            for seats in (2, 3, 4, 0):
                nursery.start_soon(fit, seats)
                await trio.testing.wait_all_tasks_blocked(0.01)
            os.kill(worker, signal.SIGCONT)
        assert done == [2, 0, 3, 4]


def test_how_long_a_process_may_be_silent_follows_its_last_answers() -> None:
    limit = fit_client_module._Limit()
    assert limit.seconds == fit_client_module.FIRST_LIMIT
    limit.answered(0.3)
    assert limit.seconds == fit_client_module.LEAST_LIMIT
    for seconds in (20.0, 4.0, 3.0):
        limit.answered(seconds)
    assert limit.seconds == 200
    for _ in range(fit_client_module.REMEMBERED - 2):
        limit.answered(2.0)
    assert limit.seconds == 40
    limit.silent()
    limit.silent()
    assert limit.seconds == 160, "perhaps it only needs longer"
    for _ in range(99):
        limit.silent()
    assert limit.seconds == fit_client_module.LONGEST_LIMIT
    limit.answered(3.0)
    assert limit.seconds == 30


@pytest.mark.process
async def test_without_a_process_there_are_no_ladders_until_one_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helper, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with open_store(tmp_path, 1) as store:
        await store.write(partial(played, count=5))
        with capture_logs() as logs:
            async with open_fit_client(tmp_path) as fit_client:
                with pytest.raises(NotFitted, match="ended before it was ready"):
                    await fit_client.fit(GAME.name)
                monkeypatch.undo()
                await warm(fit_client)
                assert (await fit_client.fit(GAME.name)).through == 5
    assert {line["event"] for line in logs} == {"the process that fits ladders cannot be started"}


@pytest.mark.process
async def test_another_quota_of_pairs_is_another_ladder_of_the_same_results(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as store:
        await store.write(partial(played, count=20))
    seen = []
    for quota in (NO_QUOTA, Quota(3, 0, 7), Quota(3, 2, 7), NO_QUOTA):
        async with real(tmp_path, pair_quota=quota.day, pair_week_quota=quota.week) as (store, _):
            published = partial(as_published, ladder_id=GAME.name)

            async def done(store: Store = store, published: Any = published, quota: Quota = quota) -> bool:
                ladder = await store.read(published)
                return ladder is not None and ladder.quota == quota

            await until(done)
            ladder = await store.read(published)
            assert ladder is not None
            assert ladder == await store.read(partial(recomputed, ladder_id=GAME.name, through=20, rule=quota))
            assert (await store.read(partial(verify, ladder_id=GAME.name))).identical
            seen.append(ladder.digest)
    assert seen[0] == seen[3]
    assert len({*seen}) == 3


@pytest.mark.process
async def test_who_stops_waiting_for_a_fit_gets_no_answer_mixed_up(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as store, open_fit_client(tmp_path) as fit_client:
        await store.write(partial(played, count=5))
        with trio.move_on_after(0):
            await fit_client.fit(GAME.name)
        assert (await fit_client.fit("another")).through == 0
        assert (await fit_client.fit(GAME.name)).through == 5
        assert (await fit_client.fit(GAME.name, 3)) != await fit_client.fit(GAME.name)


@pytest.mark.process
async def test_a_list_that_is_not_sound_is_named(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as store, open_fit_client(tmp_path) as fit_client:

        def strange(connection: Connection) -> None:
            (match,) = played(connection, 1)
            nodes, more = (Node(1), Node(999)), matches.begin(connection, GAME.name, {}, [bots.BotId(1)], 1)
            events.add_result(connection, GAME.name, more, nodes, (1, 2), (True, True), (), match)

        await store.write(strange)
        with pytest.raises(NotFitted, match="node 999 has a seat in match 2 but is no entrant"):
            await fit_client.fit(GAME.name)


# --- with a virtual clock ---


class Fake:
    """A fit client that returns the requested ladder or fails."""

    warm = True

    def __init__(self) -> None:
        self.asked: list[tuple[float, str]] = []
        self.troubles: list[Exception] = []
        self.takes = self.starts = 0.0
        self.through = 0

    async def ready(self) -> None:
        await trio.sleep(self.starts)
        self.starts = 0.0

    async def fit(self, game: str, seats: int = 0) -> Ladder:
        await trio.sleep(self.takes)
        self.asked.append((trio.current_time(), game))
        if self.troubles:
            raise self.troubles.pop(0)
        figure, field = Figure(Node(1), 1500.0, 30.0, 1, 1), FieldFigures(9.0, 1500.0, 39.0)
        line = LadderLine(Node(1), 1500.0, 30.0, 1500.0, 25.0, 1, 1, 1, 1.0, 1, 1)
        return Ladder((line,), (figure,), self.through or len(self.asked), "", field)

    async def match_values(self, game: str) -> MatchValues[int]:
        await trio.lowlevel.checkpoint()
        return MatchValues()


@asynccontextmanager
async def faked(store: MemoryStore, fit_client: Fake, **changes: Any) -> AsyncIterator[Arena]:
    async with open_arena(config(**changes), cast("Store", store), fit_client=cast("FitClient", fit_client)) as arena:
        yield arena


async def test_new_results_are_fitted_after_a_minute_and_nothing_is_when_there_are_none(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    store, fit_client = MemoryStore(), Fake()
    async with faked(store, fit_client) as arena:
        await trio.sleep(1000)
        assert fit_client.asked == []
        began = trio.current_time()
        ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
        nursery.start_soon(ann.attend, arena)
        nursery.start_soon(bob.attend, arena)
        await ann.until(lambda: ann.reports)
        ann.accepts = bob.accepts = False
        await trio.sleep(1000)
        (asked,) = fit_client.asked
        assert asked[1] == GAME.name
        assert asked[0] - began <= 60


async def test_a_flood_of_results_leaves_the_fits_a_tenth_of_a_core_and_a_void_does_not_wait(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    store, fit_client = MemoryStore(), Fake()
    fit_client.takes = 2.0
    async with faked(store, fit_client, fit_matches=1, fit_rest=9.0, fit_seconds=10_000.0) as arena:
        ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
        nursery.start_soon(ann.attend, arena)
        nursery.start_soon(bob.attend, arena)
        await ann.until(lambda: ann.reports)
        ann.accepts = bob.accepts = False
        for _ in range(100_000):  # the clock jumps while a thread of the store works
            await trio.sleep(0.1)
            arena.publisher.recorded(GAME.name)
            if len(fit_client.asked) == 3:
                break
        first, second, third = (at for at, _ in fit_client.asked)
        assert min(second - first, third - second) > 19.9, "2 of 20 seconds at most"
        arena.publisher.voided(GAME.name)
        for _ in range(90_000):
            await trio.sleep(0.1)
            if len(fit_client.asked) > 3:
                return
        pytest.fail("a result that was taken back is not felt")


class AtOnce(MemoryStore):
    """A store without threads, so that the virtual clock does not jump during its work. It has the version that
    `Fake` rates.
    """

    def __init__(self) -> None:
        super().__init__()
        ann = self.register("ann")
        self.now(partial(versions.seat, players=[(ann.id, "")], at=1))

    async def read(self, job: Callable[[Connection], Any]) -> Any:
        await trio.lowlevel.checkpoint()
        return self.now(job)

    write = read


@pytest.fixture
def unthreaded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(job: Callable[[], Any]) -> Any:
        return job()

    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)


def publishing_of(store: AtOnce, fit_client: Fake, **changes: Any) -> publisher.LadderPublisher:
    settings = config(**{"fit_seconds": 10_000.0, **changes})
    return publisher.LadderPublisher(
        settings,
        cast("Store", store),
        cast("FitClient", fit_client),
        lambda game, values: None,
        lambda kind, fields: None,
    )


@pytest.mark.usefixtures("unthreaded")
async def test_a_young_ladder_is_fitted_soon_and_whenever_its_results_have_doubled(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    fit_client, fits = Fake(), list[int]()
    ladders = publishing_of(AtOnce(), fit_client, fit_matches=100)
    nursery.start_soon(ladders.run)
    await trio.sleep(1)
    for results in range(1, 401):
        fit_client.through = results
        ladders.recorded(GAME.name)
        await trio.sleep(1)
        if len(fit_client.asked) > len(fits):
            fits.append(results)
    assert fits == [10, 20, 40, 80, 160, 260, 360]


@pytest.mark.usefixtures("unthreaded")
async def test_a_ladder_that_was_published_before_is_not_young(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    store, fit_client = AtOnce(), Fake()
    fit_client.through = 500
    store.now(partial(publish, ladder_id=GAME.name, ladder=await fit_client.fit(GAME.name), at=1))
    ladders = publishing_of(store, fit_client, fit_matches=100)
    nursery.start_soon(ladders.run)
    await trio.sleep(1)
    for _ in range(99):
        ladders.recorded(GAME.name)
        await trio.sleep(1)
    assert len(fit_client.asked) == 1
    ladders.recorded(GAME.name)
    await trio.sleep(1)
    assert len(fit_client.asked) == 2


@pytest.mark.usefixtures("unthreaded")
async def test_the_start_of_the_process_is_no_reason_to_rest(autojump_clock: MockClock, nursery: trio.Nursery) -> None:
    fit_client = Fake()
    fit_client.starts, fit_client.takes = 30.0, 0.5
    ladders = publishing_of(AtOnce(), fit_client, fit_matches=1, fit_rest=9.0)
    nursery.start_soon(ladders.run)
    for _ in range(400):
        await trio.sleep(0.1)
        ladders.recorded(GAME.name)
    first, second, *_ = (at for at, _ in fit_client.asked)
    assert 30 < first < 31
    assert 5 <= second - first < 5.2, "nine times half a second, and the fit itself"


@pytest.mark.parametrize("trouble", [NotFitted("a test"), StoreError("a test"), ZeroDivisionError()])
async def test_no_failure_of_a_fit_stops_a_match(
    trouble: Exception, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    store, fit_client = MemoryStore(), Fake()
    fit_client.troubles = [trouble]
    with capture_logs() as logs:
        async with faked(store, fit_client, fit_matches=1, fit_seconds=10_000.0) as arena:
            ann, bob = (Bot(store.register(name)) for name in ("ann", "bob"))
            nursery.start_soon(ann.attend, arena)
            nursery.start_soon(bob.attend, arena)
            await ann.until(lambda: len(ann.reports) >= 3)
            ann.accepts = bob.accepts = False
            await trio.sleep(publisher.RETRY)
    failed = [line for line in logs if line["event"].endswith("not fitted")]
    assert len(failed) == 1
    assert failed[0]["game"] == GAME.name
    assert fit_client.asked[1][0] - fit_client.asked[0][0] <= publisher.RETRY
    assert arena.publisher.unfitted(GAME.name) is None, "it is fitted by now"
    assert store.now(partial(through, ladder_id=GAME.name)) > 0


@pytest.mark.usefixtures("unthreaded")
async def test_a_ladder_says_since_when_and_why_it_is_not_fitted(
    autojump_clock: MockClock, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "now_us", lambda: int(1e6 * trio.current_time()))
    fit_client = Fake()
    fit_client.troubles = [NotFitted("one"), NotFitted("two"), ZeroDivisionError()]
    ladders = publishing_of(AtOnce(), fit_client)
    nursery.start_soon(ladders.run)
    await trio.sleep(1)
    assert ladders.unfitted(GAME.name) is None
    began = int(1e6 * trio.current_time())
    with capture_logs():
        ladders.voided(GAME.name)
        found = []
        for _ in range(4):
            await trio.sleep(publisher.RETRY / 2)
            found.append(ladders.unfitted(GAME.name))
            await trio.sleep(publisher.RETRY / 2)
    whys = ["one", "two", "a fault of the server, which is in its log"]
    assert found == [*((began, why) for why in whys), None]


async def test_without_a_fitter_there_are_no_ladders_of_some_tables(autojump_clock: MockClock) -> None:
    async with open_arena(config(), cast("Store", MemoryStore())) as arena:
        with pytest.raises(NotFitted, match="fits no ladders"):
            await arena.publisher.of_tables(GAME.name, 2)


async def test_a_server_that_cannot_look_what_is_new_runs(autojump_clock: MockClock) -> None:
    class Blind(MemoryStore):
        async def read(self, job: Callable[[Connection], Any]) -> Any:
            if "_behind" in repr(job):
                raise StoreError("a test")
            return await super().read(job)

    with capture_logs() as logs:
        async with faked(Blind(), Fake()):
            await trio.sleep(1)
    assert "new results cannot be read" in [line["event"] for line in logs]
