"""House bots that search, at a server's tables: their seats and their choices. Real processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence

import pytest
import trio
from structlog.testing import capture_logs
from structlog.typing import EventDict

from arena.house import SEARCH_BOTS, title
from arena.match.inputs import Restored, StoodIn
from arena.processes.helper import HelperFailed
from arena.replay.header import MatchKind
from arena.replay.replay import Replay
from arena.server.arena import Arena
from arena.server.sessions.player import HousePlayer
from arena.server.workers import search
from arena.store.matches import matches
from engine.registry import GAMES
from tests.server.house_rig import choices, thinking
from tests.server.pool_rig import until
from tests.server.server_rig import Bot, MemoryStore, replay_of

pytestmark = pytest.mark.process
NAME = "house-search"
GAME = GAMES["sixth_sense"]
SHORT = {"target": 5}
"""Options that make a match a few rounds long."""


def sits(replay: Replay) -> int:
    """Return the number of the searching bot's seats at a table."""
    return [bot.name for bot in replay.header.bots].count(NAME)


def right(replay: Replay) -> bool:
    """Return True if all house bots made their usual choices."""
    made = list(choices(replay))
    return [chosen for chosen, _ in made] == [due for _, due in made] and len(made) > 0


def running(arena: Arena) -> bool:
    """Return True if the searching bot has a seat at a running table."""
    return any(
        isinstance(player, HousePlayer) and player.name == NAME for driver in arena.drivers for player in driver.players
    )


def with_it(bot: Bot) -> int:
    """Return the number of a bot's finished matches with a searching bot."""
    ended = {report.match_id for report in bot.reports}
    return sum(start.match_id in ended and NAME in start.bots for start in bot.starts)


async def played(store: MemoryStore, bot: Bot, done: Callable[[], bool], **changes: object) -> list[Replay]:
    """Let a bot play matches at tables of three with house bots."""
    async with (
        thinking(store, GAMES[bot.hello.games[0]], 3, **{"options": SHORT} | changes) as arena,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(bot.attend, arena)
        await bot.until(done)
        nursery.cancel_scope.cancel()
    return [replay_of(store, report.match_id) for report in bot.reports]


@pytest.mark.parametrize("game", SEARCH_BOTS)
async def test_one_sits_at_a_rated_table_of_who_has_played_before(store: MemoryStore, game: str) -> None:
    """The searching bot gets no seat in a newcomer's first match. It replaces absent bots only at its own tables."""
    ann = Bot(store.register("ann"), games=(game,))
    ended = await played(store, ann, lambda: with_it(ann) == 1, options={}, house_search=1.0)
    assert not sits(ended[0])
    assert {sits(replay) for replay in ended} == {0, 1}
    for replay in ended:
        stand_in = replay.header.stand_in == title(SEARCH_BOTS[game])
        assert stand_in == bool(sits(replay))
        assert replay.header.kind is MatchKind.RATED
        assert right(replay)


@pytest.mark.parametrize("changes", [{"house_search": 0.0}, {"house_search": 1.0, "house_workers": 0}])
async def test_none_sits_anywhere_without_a_share_or_without_workers(
    store: MemoryStore, changes: dict[str, object]
) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    ended = await played(store, ann, lambda: len(ann.reports) >= 4, **changes)
    assert not any(sits(replay) for replay in ended)


async def test_one_plays_on_for_a_bot_that_is_gone_from_its_table(store: MemoryStore, nursery: trio.Nursery) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    async with thinking(store, GAME, 3, options=SHORT, house_search=1.0) as arena:
        nursery.start_soon(ann.attend, arena)
        await ann.until(lambda: running(arena))
        ann.line.say(leaves=True)
        await until(lambda: not arena.playing)
    replay = replay_of(store, store.now(matches.newest))
    assert sits(replay) == 1
    assert any(isinstance(event, StoodIn) for event in replay.inputs)
    assert right(replay)


async def left_running(store: MemoryStore, ann: Bot) -> int:
    """Leave a running match with a searching bot to the next server. Return the match's number."""
    async with thinking(store, GAME, 3, options=SHORT, house_search=1.0) as arena, trio.open_nursery() as first:
        first.start_soon(ann.attend, arena)
        await ann.until(lambda: running(arena))
        ann.answers = False
        asked = len(ann.questions)
        await ann.until(lambda: len(ann.questions) > asked)
        [driver] = arena.drivers
        await arena.drain(0)
        first.cancel_scope.cancel()
    store.reopen()
    return driver.match_id


@pytest.mark.parametrize("changes", [{"house_search": 0.0}, {"house_search": 0.0, "house": False}])
async def test_a_server_without_a_share_for_it_plays_on_the_match_it_sits_in(
    store: MemoryStore, changes: dict[str, object]
) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    match_id = await left_running(store, ann)
    again = Bot(ann.row, games=ann.hello.games)
    replay = (await played(store, again, lambda: len(again.reports) >= 1, **changes))[0]
    assert replay.header.match_id == match_id
    [restored] = [event for event in replay.inputs if isinstance(event, Restored)]
    assert (restored.stand_in, restored.removed) == (title(SEARCH_BOTS[GAME.name]), ())
    assert right(replay)


async def test_a_server_without_workers_has_a_quick_house_bot_play_its_seat_on(store: MemoryStore) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    match_id = await left_running(store, ann)
    again = Bot(ann.row, games=ann.hello.games)
    replay = (await played(store, again, lambda: len(again.reports) >= 1, house_workers=0))[0]
    assert replay.header.match_id == match_id
    [restored] = [event for event in replay.inputs if isinstance(event, Restored)]
    assert restored.stand_in.startswith("house-planner ")
    assert [replay.header.bots[seat].name for seat in restored.removed] == [NAME]
    assert right(replay)


async def test_a_choice_is_the_same_when_its_process_is_killed_over_it(
    store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    async with thinking(store, GAME, 3, options=SHORT, house_search=1.0) as arena:
        worker = arena.workers.search
        nursery.start_soon(ann.attend, arena)

        def thinks() -> bool:
            """Return True if the bot gets a question for the first time."""
            return worker._worker is not None and any(not thought.failures for thought in worker._worker.thoughts)

        for _ in range(3):
            await until(thinks)
            assert worker._worker is not None
            os.kill(worker._worker.pid, signal.SIGKILL)
            await until(lambda: worker._worker is None)
        await until(lambda: with_it(ann))
        assert all(right(replay_of(store, report.match_id)) for report in ann.reports)


def faults(logs: Sequence[EventDict]) -> list[EventDict]:
    return [entry for entry in logs if entry["event"] == "a house bot failed"]


async def test_a_choice_that_two_processes_ended_over_is_the_first_legal_action(
    store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    async with thinking(store, GAME, 3, options=SHORT, house_search=1.0) as arena:
        worker = arena.workers.search
        nursery.start_soon(ann.attend, arena)
        with capture_logs() as logs:
            while not faults(logs):  # a process may make the choice before it is stopped
                await until(lambda: worker._worker is not None)
                assert worker._worker is not None
                os.kill(worker._worker.pid, signal.SIGSTOP)
                await until(lambda: worker._worker is not None and worker._worker.thoughts)
                os.kill(worker._worker.pid, signal.SIGKILL)
                await until(lambda: worker._worker is None)
        [failed] = faults(logs)
        assert (failed["bot"], failed["fault"]) == (NAME, "2 workers ended over it")
        await until(lambda: with_it(ann))
        replay = replay_of(store, failed["match_id"])
    wrong = [chosen for chosen, due in choices(replay) if chosen != due]
    assert len(wrong) <= 1


async def test_a_match_goes_on_where_no_process_can_be_started(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = Bot(store.register("ann"), games=(GAME.name,))
    match_id = await left_running(store, ann)

    def broken(module: str) -> None:
        raise HelperFailed("no memory is left")

    monkeypatch.setattr(search, "helper", broken)
    again = Bot(ann.row, games=ann.hello.games)
    with capture_logs() as logs:
        replay, *others = await played(store, again, lambda: len(again.reports) >= 3, house_search=1.0)
    assert replay.header.match_id == match_id
    assert "a worker cannot be started" in [entry["event"] for entry in logs]
    assert not any(sits(other) for other in others), "nobody new is seated without it"
