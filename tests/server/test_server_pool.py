"""House bots make the same choices in worker processes as elsewhere, whatever happens to the processes. Real
processes, real time.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from arena.house import HOUSE_BOTS, THINKERS
from arena.house.selfplay import Question, baseline
from arena.match.effects import Ask
from arena.processes import helper
from arena.processes.frames import Frames, packed
from arena.server.runtime.turns import Turns
from arena.server.workers import pool, worker
from arena.server.workers.pool import ReplayFailed, WorkerPool
from engine.deal import SeededDecks
from engine.game import OVER, SeatView
from engine.registry import GAMES
from tests.match.counting import CountingGame
from tests.server.fatal_view import Fatal
from tests.server.pool_rig import HARD, NULLERN, Case, Client, alive, cases, until, workers_of, working
from tests.server.server_rig import HouseBot

pytestmark = pytest.mark.process

EVERY = [case for name, game in GAMES.items() for case in cases(name, min(3, game.seats[-1]), 120)]


def right(asked: Sequence[Case]) -> Mapping[int, int]:
    return {case.ask.decision: case.action for case in asked}


@pytest.mark.parametrize("size", [1, 2])
async def test_a_worker_chooses_what_the_server_would(size: int) -> None:
    async with working(size) as client:
        await client.up(size)
        for game in GAMES:
            asked = [case for case in EVERY if case.bot.game == game]
            client.actions.clear()
            for case in asked:
                client.ask(case)
            await client.until(len(asked))
            assert client.actions == right(asked)
        thought = [case for case in EVERY if case.bot in THINKERS and len(case.ask.legal) > 1]
        assert client.later >= len(thought) > 100


async def test_who_asks_before_a_worker_is_up_is_answered_at_once() -> None:
    async with working(1) as client:
        client.ask(HARD)
        assert client.actions == right([HARD])
        client.actions.clear()
        await client.up()
        client.ask(HARD)
        assert client.actions == {}
        await client.until(1)
        assert client.actions == right([HARD])


def turn(client: Client, *asked: Case) -> Mapping[int, int]:
    """Send questions in one turn. Return the answers that are available at its end."""
    client.actions.clear()
    with client.turns:
        for case in asked:
            client.ask(case)
        assert client.actions == {}
    return {**client.actions}


def again(case: Case, *decisions: int) -> list[Case]:
    """Return the same question under other decision numbers."""
    return [case._replace(ask=replace(case.ask, decision=decision)) for decision in decisions]


async def test_a_choice_that_costs_less_here_than_away_is_made_at_once() -> None:
    place = THINKERS.index(HARD.bot)
    async with working(1, 1e9) as client:
        client.pool._takes[place] = 2e9
        await client.up()
        client.pool._takes[place] = 0.5e9
        client.ask(HARD)
        assert client.actions == right([HARD])


async def test_what_a_choice_takes_is_measured_and_a_slow_moment_forgotten() -> None:
    place = THINKERS.index(HARD.bot)
    async with working(1, 0.1) as client:
        client.pool._takes[place] = 1e9
        await client.up()
        client.pool._takes[place] = 0.2
        asked, turns = again(HARD, *range(64)), 0
        while client.pool._takes[place] > 0.1 and turns < 100:
            client.actions.clear()
            for case in asked:
                client.ask(case)
            await client.until(64)
            turns += 1
        assert 30 < turns < 100
        client.actions.clear()
        client.ask(HARD)
        assert client.actions == right([HARD])
        assert 0.0 < client.pool._takes[place] < 0.1


async def test_questions_of_one_turn_go_to_a_worker_together() -> None:
    (second,) = again(HARD, 1000)
    async with working(1) as client:
        await client.up()
        assert turn(client, HARD, second) == {}
        await client.until(2)
        assert client.actions == right([HARD, second])


async def test_no_process_is_started_before_there_is_something_to_think_about() -> None:
    easy = next(case for case in NULLERN if case.bot not in THINKERS and len(case.ask.legal) > 1)
    async with working(1) as client:
        client.ask(easy)
        await trio.testing.wait_all_tasks_blocked()
        assert workers_of() == []
        await client.up()
        assert len(workers_of()) == 1
    assert workers_of() == []


async def test_without_workers_everything_is_answered_at_once() -> None:
    async with working(0) as client:
        for case in NULLERN:
            client.ask(case)
        assert client.actions == right(NULLERN)
        assert workers_of() == []


@pytest.mark.sources_only("it replaces a constant")
async def test_a_queue_that_is_full_is_no_reason_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_WAITING", 5)
    async with working(1) as client:
        await client.up()
        asked = again(HARD, *range(20))
        for case in asked:
            client.ask(case)
        assert len(client.actions) == 20 - 5
        await client.until(20)
        assert client.actions == right(asked)


async def test_what_a_killed_worker_owed_is_asked_again() -> None:
    with capture_logs() as logs:
        async with working(1) as client:
            await client.up()
            (first,) = workers_of()
            os.kill(first, signal.SIGSTOP)
            for case in NULLERN:
                client.ask(case)
            await trio.testing.wait_all_tasks_blocked()
            os.kill(first, signal.SIGKILL)
            await client.until(len(NULLERN))
            assert client.actions == right(NULLERN)
            await client.up()
            assert workers_of() != [first]
    (ended,) = [entry for entry in logs if entry["event"] == "a worker ended"]
    assert (ended["worker"], ended["status"], ended["owed"]) == (first, -signal.SIGKILL, pool.BATCH)
    assert not any(entry["event"] == "a house bot failed" for entry in logs)


async def test_another_worker_takes_over_what_one_owed() -> None:
    async with working(2) as client:
        await client.up(2)
        for process in workers_of():
            os.kill(process, signal.SIGSTOP)
        client.ask(HARD)
        await trio.testing.wait_all_tasks_blocked()
        asked = [client.pool._workers[number].thoughts for number in range(2)]
        busy, free = (workers.pid for workers in sorted(client.pool._workers, key=lambda each: -len(each.thoughts)))
        assert sorted(map(len, asked)) == [0, 1]
        os.kill(free, signal.SIGCONT)
        os.kill(busy, signal.SIGKILL)
        await client.until(1)
        assert client.actions == right([HARD])
        assert client.later > 0


async def test_a_hanging_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with capture_logs() as logs:
        async with working(1) as client:
            await client.up()
            (first,) = workers_of()
            os.kill(first, signal.SIGSTOP)
            for case in NULLERN:
                client.ask(case)
            with monkeypatch.context() as patch:
                patch.setattr(worker, "LIMIT", 0.1)
                await until(lambda: not alive(first))
            await client.until(len(NULLERN))
            assert client.actions == right(NULLERN)
    (ended,) = [entry for entry in logs if entry["event"] == "a worker ended"]
    assert (ended["worker"], ended["status"]) == (first, -signal.SIGKILL)
    assert ended["wrong"].startswith("no answer for ")


async def test_a_worker_may_take_longer_to_start_than_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a worker had to start quickly, a busy machine would start and kill it forever."""
    with capture_logs() as logs:
        async with working(1) as client:
            with monkeypatch.context() as patch:
                patch.setattr(worker, "LIMIT", 0.01)
                await client.up()
            client.ask(HARD)
            await client.until(1)
            assert client.actions == right([HARD])
            assert client.later == 1
    assert logs == []


async def test_a_question_that_ended_a_worker_waits_no_longer_for_another_one_than_an_answer_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process `sleep` starts, but is never ready."""
    monkeypatch.setattr(pool, "LIMIT", 0.1)
    async with working(1) as client:
        await client.up()
        (first,) = workers_of()
        os.kill(first, signal.SIGSTOP)
        client.ask(HARD)
        await trio.testing.wait_all_tasks_blocked()
        monkeypatch.setattr("arena.processes.helper.command", lambda *_: ["sleep", "1000"])
        os.kill(first, signal.SIGKILL)
        await client.until(1)
        assert client.actions == {HARD.ask.decision: HARD.ask.legal[0]}


async def test_a_question_that_ends_every_worker_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the second worker, the question gets the first legal action. Other questions of the batch are answered as
    usual.
    """
    fatal = HARD._replace(ask=replace(HARD.ask, decision=1000, view=Fatal(0)))
    first = HARD._replace(ask=replace(HARD.ask, decision=1001))
    others = [case for case in NULLERN if case.bot in THINKERS and len(case.ask.legal) > 1][:20]
    with capture_logs() as logs:
        async with working(1) as client:
            await client.up()
            for case in [first, *others[:10], fatal, *others[10:]]:
                client.ask(case)
            await client.until(22)
    assert client.actions == {**right([first, *others]), 1000: HARD.ask.legal[0]}
    faults = [(entry["decision"], entry["fault"]) for entry in logs if entry["event"] == "a house bot failed"]
    assert faults == [(1000, "2 workers ended over it")]
    assert [entry["owed"] for entry in logs if entry["event"] == "a worker ended"] == [22, 1]


async def test_a_fault_of_a_bot_in_a_worker_is_told_and_made_good() -> None:
    wrong = HARD._replace(ask=replace(HARD.ask, view=EVERY[0].ask.view))  # a view of another game
    with capture_logs() as logs:
        async with working(1) as client:
            await client.up()
            client.ask(wrong)
            await client.until(1)
            assert client.actions == {HARD.ask.decision: HARD.ask.legal[0]}
            assert len(workers_of()) == 1
    (entry,) = logs
    assert (entry["event"], entry["decision"]) == ("a house bot failed", HARD.ask.decision)
    assert entry["fault"].splitlines()[-1].startswith("AssertionError")


async def test_a_worker_that_never_comes_up_is_tried_again_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with capture_logs() as logs:
        async with working(1) as client:
            client.ask(HARD)
            await until(lambda: len(logs) >= 3)
            assert client.actions == right([HARD])
            monkeypatch.setattr(sys, "executable", "/no/such/program")
            await until(lambda: "/no/such/program" in logs[-1]["error"])
            monkeypatch.undo()
            await client.up()
    assert {entry["event"] for entry in logs} == {"a worker cannot be started"}
    assert logs[0]["error"] == "arena.house.worker ended before it was ready"


async def test_a_question_that_ended_a_worker_does_not_wait_for_one_that_never_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with capture_logs() as logs:
        async with working(1) as client:
            await client.up()
            monkeypatch.setattr(sys, "executable", "/bin/false")
            (first,) = workers_of()
            os.kill(first, signal.SIGSTOP)
            client.ask(HARD)
            await trio.testing.wait_all_tasks_blocked()
            os.kill(first, signal.SIGKILL)
            await client.until(1)
    assert client.actions == {HARD.ask.decision: HARD.ask.legal[0]}
    assert [entry["event"] for entry in logs] == ["a worker ended", "a worker cannot be started", "a house bot failed"]


KEY = bytes(range(32))
GAME = GAMES["nullern"]
BOT = HOUSE_BOTS["nullern"][-1]


@pytest.mark.parametrize("size", [0, 1])
async def test_deals_are_replayed_as_they_would_be_here(size: int) -> None:
    async with working(size) as client:
        assert await client.pool.baseline(GAME, 3, {}, KEY, 4, 2, BOT) == baseline(GAME, 3, {}, KEY, 4, 2, BOT)


async def test_deals_of_a_game_that_workers_do_not_know_are_replayed_here() -> None:
    game, bot = CountingGame(), HouseBot("house-one")
    async with working(1) as client:
        assert await client.pool.baseline(game, 3, {}, KEY, None, 1, bot) == baseline(game, 3, {}, KEY, None, 1, bot)
        assert workers_of() == []


async def test_choices_do_not_wait_for_replays(nursery: trio.Nursery) -> None:
    done: list[tuple[float, ...]] = []

    async def replay() -> None:
        done.append(await client.pool.baseline(GAME, 7, {}, KEY, None, 10, BOT))

    async with working(1) as client:
        await client.up()
        for _ in range(3):
            nursery.start_soon(replay)
        await trio.testing.wait_all_tasks_blocked()
        for case in NULLERN:
            client.ask(case)
        await client.until(len(NULLERN))
        assert client.actions == right(NULLERN)
        assert done == []
        with trio.fail_after(60):
            while len(done) < 3:
                await trio.sleep(0.01)
    assert done == [baseline(GAME, 7, {}, KEY, None, 10, BOT)] * 3


@pytest.mark.parametrize("size", [0, 1])
async def test_what_is_wrong_with_a_replay_is_told(size: int) -> None:
    async with working(size) as client:
        with pytest.raises(ReplayFailed, match="Nullern is for 2 to 7 seats, not 9"):
            await client.pool.baseline(GAME, 9, {}, KEY, None, 1, BOT)
        with pytest.raises(ReplayFailed, match="at least once, not 0 times"):
            await client.pool.baseline(GAME, 3, {}, KEY, None, 0, BOT)


async def test_a_replay_is_begun_again_when_its_worker_ends_and_given_up_the_second_time(
    nursery: trio.Nursery,
) -> None:
    failed = trio.Event()

    async def replay() -> None:
        with pytest.raises(ReplayFailed, match="2 workers ended over it"):
            await client.pool.baseline(GAME, 7, {}, KEY, None, 1000, BOT)
        failed.set()

    async with working(1) as client:
        nursery.start_soon(replay)
        killed: list[int] = []
        with trio.fail_after(60):
            while not failed.is_set():
                for each in client.pool._workers:
                    if each.pid not in killed and each.errand is not None:
                        killed.append(each.pid)
                        each.helper.kill()
                await trio.sleep(0.01)
        assert len(killed) == 2
        assert await client.pool.baseline(GAME, 2, {}, KEY, 2, 1, BOT) == baseline(GAME, 2, {}, KEY, 2, 1, BOT)


async def test_a_replay_that_takes_for_ever_ends_its_worker(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "REPLAY_LIMIT", 0.1)
    async with working(1) as client:
        with trio.fail_after(60), pytest.raises(ReplayFailed, match="2 workers ended over it"):
            await client.pool.baseline(GAME, 7, {}, KEY, None, 1000, BOT)


PARENT = """
import sys, trio
from arena.server.workers.pool import WorkerPool
from arena.server.runtime.turns import Turns
from tests.server.fatal_view import Fatal
from tests.server.pool_rig import FREE, Client, workers_of

async def main():
    turns = Turns(lambda: None, 0.0)
    pool = WorkerPool(2, turns, FREE)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pool.run)
        await Client(pool, turns).up(2)
        print(*workers_of(), flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_workers_end_with_their_server_however_that_ends(number: signal.Signals) -> None:
    with trio.fail_after(60):
        parent = await trio.lowlevel.open_process([sys.executable, "-c", PARENT], stdout=-1, process_group=0)
        assert parent.stdout is not None
        told = b""
        while not told.endswith(b"\n"):
            told += await parent.stdout.receive_some()
        processes = [int(word) for word in told.split()]
        assert len(processes) == 2
        assert all(alive(process) for process in processes)
        os.kill(parent.pid, number)
        await parent.wait()
        await until(lambda: not any(alive(process) for process in processes))


def test_an_answer_for_a_batch_is_packed_and_unpacked_whatever_its_pieces() -> None:
    asked: list[Question] = [(0, case.ask.view, case.ask.legal, case.chance) for case in EVERY[:5]]
    answered: list[int | str] = [1, "two"]
    stream = packed(asked) + packed(answered)
    for size in (1, 3, 1000):
        frames = Frames()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [message for piece in pieces for message in frames.take(piece)] == [asked, answered]


class Recalling:
    """A house bot that records its questions and chooses the last action."""

    name = "house-recalling"
    version = "1"
    game = "nullern"

    def __init__(self) -> None:
        self.thought: list[SeatView] = []

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        self.thought.append(view)
        return legal[-1]


def test_a_decision_without_a_choice_takes_as_long_as_the_latest_choice_of_its_kind() -> None:
    state, asks = GAMES["nullern"].new(2, SeededDecks(bytes(32))), list[Ask]()
    while state.player != OVER and len(asks) < 400:
        seat = state.player
        asks.append(Ask(seat, len(asks) + 1, state.legal(seat), state.view(seat), 0, 0))
        state.apply(state.legal(seat)[0], seat)
    bot, here = Recalling(), WorkerPool(0, Turns(lambda: None, 1.0))
    latest: dict[tuple[str, int, int], SeatView] = {}
    over_again = at_once = 0
    for ask in asks:
        kind, view = GAMES["nullern"].actions[ask.legal[0]].kind, ask.view._asdict()
        alike = kind, len(view["hand"]), len(view["plays"]) % 2
        before = len(bot.thought)
        action = here.choose(bot, 1, ask, kind, bytes(32), lambda *_: None)
        if len(ask.legal) > 1:
            latest[alike] = ask.view
            assert (action, bot.thought[before:]) == (ask.legal[-1], [ask.view])
        elif alike in latest:
            over_again += 1
            assert (action, bot.thought[before:]) == (ask.legal[0], [latest[alike]])
        else:
            at_once += 1
            assert (action, bot.thought[before:]) == (ask.legal[0], [])
    assert over_again > 3
    assert at_once > 0, "everybody knows that the last card is no choice"


async def test_a_decision_without_a_choice_goes_to_a_worker_as_any_other() -> None:
    forced = Ask(HARD.ask.seat, 9999, HARD.ask.legal[-1:], HARD.ask.view, 0, 0)
    async with working(1) as client:
        await client.up()
        client.ask(HARD)
        await client.until(1)
        later = client.later
        client.ask(HARD._replace(ask=forced))
        await client.until(2)
        assert client.later == later + 1
        assert client.actions[9999] == HARD.ask.legal[-1]
