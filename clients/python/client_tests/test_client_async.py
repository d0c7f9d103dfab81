"""Bots in an asynchronous program: `play` in a thread, and an `async def decide` under asyncio and trio."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from arena_client import ArgumentError, BadAnswerError, Bot, Decision, TokenRefusedError, connect, play, run
from arena_client.v1 import play_pb2
from client_tests.peer import (
    PATIENCE,
    First,
    Peer,
    Playing,
    Script,
    Talk,
    asks,
    begun,
    invites,
    notice,
    reports,
    starts,
    welcome,
)  # fmt: skip

LOOPS: dict[str, Callable[..., Any]] = {"asyncio": lambda call: asyncio.run(call()), "trio": trio.run}
"""Functions that run an async function in an event loop, one for each library."""
SLEEP: dict[str, Callable[[float], Awaitable[None]]] = {"asyncio": asyncio.sleep, "trio": trio.sleep}
CANCELLED = (asyncio.CancelledError, trio.Cancelled)

pytestmark = [
    pytest.mark.process,
]
either = pytest.mark.parametrize("loop", LOOPS)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "bot.token"


def answered(talk: Talk, number: int) -> dict[tuple[int, int], int]:
    """Return the next `number` answers by match and decision."""
    answers: dict[tuple[int, int], int] = {}
    while len(answers) < number:
        answers |= {(each.match_id, each.decision_id): each.action for each in talk.next().answers}
    return answers


def asking(*numbers: int) -> Script:
    """Return a script of one match that sends decisions one after the other."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        for number in numbers:
            yield asks((1, number))
            answered(talk, 1)
        yield reports(1)
        talk.wait_for_goodbye()

    return script


class Threads(First):
    """A bot that records its threads and computes for 0.3 s per decision."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[threading.Thread] = []
        self.spans: list[tuple[float, float]] = []

    def decide(self, decision: Decision) -> int:
        self.threads.append(threading.current_thread())
        began = time.monotonic()
        time.sleep(0.3)
        self.spans.append((began, time.monotonic()))
        return 0

    def on_match_start(self, start: play_pb2.MatchStart) -> None:
        self.threads.append(threading.current_thread())

    def on_match_end(self, report: play_pb2.MatchReport) -> None:
        self.threads.append(threading.current_thread())


@either
def test_play_does_not_stop_the_loop_while_a_bot_computes(token_file: Path, loop: str) -> None:
    ticks: list[float] = []
    bot = Threads()

    async def program() -> None:
        playing = True

        async def tick() -> None:
            while playing:
                ticks.append(time.monotonic())
                await SLEEP[loop](0.01)

        async def plays() -> None:
            nonlocal playing
            await play(bot, peer.address, token_file=token_file, matches=1)
            playing = False

        await together(loop, tick, plays)

    with Peer([asking(1, 2)]) as peer:
        LOOPS[loop](program)
    assert len(bot.spans) == 2
    for began, ended in bot.spans:
        assert sum(began < moment < ended for moment in ticks) >= 5, "of thirty on an idle machine"
    assert len(bot.threads) == 4
    assert {*bot.threads} == {bot.threads[0]} != {threading.current_thread()}


async def together(loop: str, *calls: Callable[[], Awaitable[None]]) -> None:
    """Run functions concurrently."""
    if loop == "trio":
        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(call)
    else:
        await asyncio.gather(*(call() for call in calls))


@either
def test_run_and_an_event_loop_exclude_each_other(token_file: Path, loop: str) -> None:
    async def wrong() -> None:
        run(First(), "localhost:1", token_file=token_file, verbose=False)

    with pytest.raises(RuntimeError, match="await play"):
        LOOPS[loop](wrong)


class Waits(Bot):
    name = "bot"

    """A bot that waits until `together` decisions are open."""

    def __init__(self, loop: str, together: int, capacity: int = 8) -> None:
        super().__init__(capacity=capacity)
        self.loop, self.together = loop, together
        self.now, self.most = 0, 0
        self.cancelled: list[tuple[int, int]] = []
        self.threads: set[threading.Thread] = set()

    async def decide(self, decision: Decision) -> int:
        self.threads.add(threading.current_thread())
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            while self.most < self.together:
                await SLEEP[self.loop](0.01)
            await SLEEP[self.loop](0.01)
        except CANCELLED:
            self.cancelled.append((decision.match_id, decision.decision_id))
            raise
        finally:
            self.now -= 1
        return decision.match_id % 3


@either
def test_an_async_decide_has_as_many_decisions_at_once_as_the_capacity(token_file: Path, loop: str) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1, 2, 3, 4, 5)
        yield asks((1, 1), (2, 1))
        yield asks((3, 1), (4, 1), (5, 1))
        given.update(answered(talk, 5))
        yield reports(1, 2, 3, 4, 5)
        talk.wait_for_goodbye()

    given: dict[tuple[int, int], int] = {}
    bot = Waits(loop, together=3, capacity=3)

    async def program() -> None:
        await play(bot, peer.address, token_file=token_file, matches=5)

    with Peer([script]) as peer:
        LOOPS[loop](program)
    assert given == {(1, 1): 1, (2, 1): 2, (3, 1): 0, (4, 1): 1, (5, 1): 2}
    assert (bot.most, bot.cancelled, bot.threads) == (3, [], {threading.current_thread()})


@pytest.mark.parametrize("how", ["asyncio", "trio", "run"])
def test_an_async_decide_is_cancelled_when_its_decision_is_closed(token_file: Path, how: str) -> None:
    """The end of a decision, a match or a stream cancels only the tasks of that decision, match or stream."""
    loop = "asyncio" if how == "run" else how
    bot = Waits(loop, together=9)

    def until(done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end
            time.sleep(0.005)

    def first(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1, 2, 3)
        yield asks((1, 1), (2, 1), (3, 1))
        until(lambda: bot.now == 3)
        yield play_pb2.PlayResponse(closed=[play_pb2.ClosedDecision(match_id=1, decision_id=1)])
        until(lambda: len(bot.cancelled) == 1)
        yield reports(2)
        until(lambda: len(bot.cancelled) == 2)

    def second(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        until(lambda: len(bot.cancelled) == 3)
        bot.most = 9  # the task no longer waits
        yield welcome()
        yield starts(1, 3)
        yield asks((3, 1))
        assert answered(talk, 1) == {(3, 1): 0}
        yield reports(1, 3)
        talk.wait_for_goodbye()

    async def program() -> None:
        await play(bot, peer.address, token_file=token_file, matches=3)

    with Peer([first, second]) as peer:
        if how == "run":
            run(bot, peer.address, token_file=token_file, matches=3, verbose=False)
        else:
            LOOPS[loop](program)
    assert bot.cancelled == [(1, 1), (2, 1), (3, 1)]


def leaving(left: list[bool]) -> Script:
    """Return a script in which a bot leaves while it owes a decision."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1))
        left.append(talk.next().leave)

    return script


@either
@pytest.mark.parametrize("plain", [False, True], ids=["async", "plain"])
def test_a_cancelled_play_leaves_in_order(token_file: Path, loop: str, plain: bool) -> None:
    """The bot leaves its matches even while its synchronous `decide` computes."""
    asked, done = threading.Event(), threading.Event()
    calls: list[int] = []

    class Plain(First):
        def decide(self, decision: Decision) -> int:
            calls.append(decision.decision_id)
            asked.set()
            done.wait(PATIENCE)
            return 0

    class Async(Bot):
        name = "bot"

        async def decide(self, decision: Decision) -> int:
            asked.set()
            await SLEEP[loop](PATIENCE)
            return 0

    async def program() -> None:
        bot = Plain() if plain else Async()

        async def plays() -> None:
            await play(bot, peer.address, token_file=token_file)

        if loop == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(plays)
                while not asked.is_set():
                    await trio.sleep(0.01)
                nursery.cancel_scope.cancel()
        else:
            playing = asyncio.create_task(plays())
            while not asked.is_set():
                await asyncio.sleep(0.01)
            playing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await playing

    left: list[bool] = []
    with Peer([leaving(left)]) as peer:
        LOOPS[loop](program)
        done.set()
    assert left == [True]
    assert len(calls) == plain


@either
def test_an_error_of_an_async_decide_ends_the_run_or_is_logged(loop: str) -> None:
    known = {"t": "bot"}

    class Fails(Bot):
        name = "bot"

        async def decide(self, decision: Decision) -> int:
            await SLEEP[loop](0)
            if decision.decision_id == 1:
                raise ZeroDivisionError("my own")
            return 7

    async def program(address: str, on_error: Any) -> None:
        await play(Fails(), address, token="t", matches=1, on_error=on_error)

    with Peer([asking(1)], tokens=known) as peer, pytest.raises(ZeroDivisionError, match="my own") as raised:
        LOOPS[loop](lambda: program(peer.address, "raise"))
    assert raised.value.__notes__[0].startswith("in match 1 of sixth_sense, round 1, decision 1; legal: [0, 1, 2]")
    with Peer([asking(2)], tokens=known) as peer, pytest.raises(BadAnswerError, match="is 7, which is not legal here"):
        LOOPS[loop](lambda: program(peer.address, "raise"))
    with Peer([asking(1, 2)], tokens=known) as peer:
        LOOPS[loop](lambda: program(peer.address, "continue"))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_async_decide_may_end_the_program(token_file: Path, stop: type[BaseException]) -> None:
    class Stops(Bot):
        name = "bot"

        async def decide(self, decision: Decision) -> int:
            raise stop

    left: list[bool] = []
    with Peer([leaving(left)]) as peer, pytest.raises(stop):
        run(Stops(), peer.address, token_file=token_file, verbose=False)
    assert left == [True]


def test_a_decide_that_somebody_else_cancels_is_an_error(token_file: Path) -> None:
    class Cancelled(Bot):
        name = "bot"

        async def decide(self, decision: Decision) -> int:
            raise asyncio.CancelledError

    with Peer([asking(1)]) as peer, pytest.raises(BadAnswerError, match="but nobody has cancelled it"):
        Playing(Cancelled(), peer.address, token_file).result()


@pytest.mark.parametrize("name", ["decide_many", "on_match_start", "on_round", "on_match_end", "on_notice"])
def test_no_other_method_may_be_async(name: str) -> None:
    async def method(*_: object) -> None: ...

    bot = type("Wrong", (First,), {name: method})()
    with pytest.raises(ArgumentError, match=re.escape(f"{name}() is an async function")):
        run(bot, "localhost:1", verbose=False)


def test_a_second_signal_interrupts_an_async_decide_that_computes(tmp_path: Path) -> None:
    program = """
import time
from arena_client import Bot, run

class Mine(Bot):
    async def decide(self, decision):
        print("asked", flush=True)
        while True:
            time.sleep(0.01)

run(Mine(), {address!r}, token_file="token", verbose=False)
"""
    left: list[bool] = []
    heard = threading.Event()

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1))
        assert talk.next().HasField("capacity")
        heard.set()
        left.append(talk.next().leave)

    with Peer([script]) as peer:
        (tmp_path / "bot.py").write_text(program.format(address=peer.address))
        with subprocess.Popen([sys.executable, "bot.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as bot:
            try:
                assert bot.stdout is not None
                assert bot.stdout.readline() == "asked\n"
                bot.send_signal(2)
                assert heard.wait(PATIENCE)
                bot.send_signal(2)
                assert bot.wait(PATIENCE) == 0
            finally:
                bot.kill()
    assert left == [True]


def test_only_a_program_of_trio_imports_it(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from arena_client import Bot, play
class Mine(Bot):
    async def decide(self, decision): return decision.legal[0]
asyncio.run(play(Mine(), {address!r}, token_file="token", matches=1))
print("trio" in sys.modules)
"""
    with Peer([asking(1)]) as peer:
        command = [sys.executable, "-c", program.format(address=peer.address)]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE, check=True)
    assert ran.stdout == "False\n"


def test_a_late_answer_of_an_async_decide_goes_to_a_running_match(token_file: Path) -> None:
    """A `decide` that ignores its cancellation answers late. The server's notice states the delay."""

    class Stubborn(Bot):
        name = "bot"

        async def decide(self, decision: Decision) -> int:
            asked.set()
            try:
                await asyncio.sleep(PATIENCE)
            except asyncio.CancelledError:
                return 2
            return 0

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1))
        assert asked.wait(PATIENCE)
        yield play_pb2.PlayResponse(closed=[play_pb2.ClosedDecision(match_id=1, decision_id=1)])
        assert answered(talk, 1) == {(1, 1): 2}
        yield notice(play_pb2.NoticeKind.NOTICE_KIND_SUSPENDED, match_id=1)
        assert list(talk.next().resumed) == [1]
        yield reports(1)
        talk.wait_for_goodbye()

    asked = threading.Event()
    with Peer([script]) as peer:
        Playing(Stubborn(), peer.address, token_file, matches=1).result()


@either
def test_a_program_asks_for_the_decisions_itself(token_file: Path, loop: str) -> None:
    """The bot answers in a different order and ignores a closed decision. Its other methods are called, too."""
    told: list[str] = []

    class Hears(Bot):
        def on_match_start(self, start: play_pb2.MatchStart) -> None:
            told.append(f"match {start.match_id} begins")

        def on_match_end(self, report: play_pb2.MatchReport) -> None:
            told.append(f"match {report.match_id} ends")

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        hello = talk.next().hello
        assert (hello.version, hello.capacity) == ("7", 3)
        yield welcome()
        for match in (1, 2, 3):
            yield invites(match)
            talk.next()
            yield starts(match)
        yield asks((1, 1), (2, 1), (3, 1))
        assert answered(talk, 2) == {(2, 1): 2, (1, 1): 1}
        yield play_pb2.PlayResponse(closed=[play_pb2.ClosedDecision(match_id=3, decision_id=1)])
        yield asks((1, 2))
        assert answered(talk, 1) == {(1, 2): 0}
        yield reports(1, 2, 3)
        talk.wait_for_goodbye()

    async def program() -> None:
        bot = Hears(name="bot", version="7")
        async with connect(bot, peer.address, token_file=token_file, matches=3) as decisions:
            assert bot.welcome.bot == ""
            first, second = await anext(decisions), await anext(decisions)
            assert (first.match_id, second.match_id, bot.welcome.bot) == (1, 2, "bot")
            await second.answer(2)
            with pytest.raises(BadAnswerError, match="is 5, which is not legal here"):
                await first.answer(5)
            await first.answer(1)
            with pytest.raises(BadAnswerError, match="decision 1 of match 1 was answered before"):
                await first.answer(1)
            third = await anext(decisions)
            assert not third.closed
            while not third.closed:
                await SLEEP[loop](0.01)
            async for decision in decisions:
                assert (decision.match_id, decision.decision_id) == (1, 2)
                await decision.answer(decision.legal[0])
            await third.answer(0)  # of a match that is not running

    with Peer([script]) as peer:
        LOOPS[loop](program)
    starts_and_ends = [f"match {match} {does}" for does in ("begins", "ends") for match in (1, 2, 3)]
    assert told == starts_and_ends


@either
@pytest.mark.parametrize("how", ["break", "cancel", "error"])
def test_a_program_that_asks_no_more_leaves_in_order(token_file: Path, loop: str, how: str) -> None:
    """If the bot's code raises an exception, the connection is closed without notice instead."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.context.add_callback(ended.set)
        yield from begun(talk, 1)
        yield asks((1, 1))
        left.append(next(talk.requests, play_pb2.PlayRequest()).leave)

    async def asks_once() -> None:
        async with connect(First(version="1"), peer.address, token_file=token_file) as decisions:
            async for _ in decisions:
                if how == "error":
                    raise ZeroDivisionError
                if how == "break":
                    return
                waiting.set()
                await SLEEP[loop](PATIENCE)

    async def program() -> None:
        if how != "cancel":
            await asks_once()
        elif loop == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(asks_once)
                while not waiting.is_set():
                    await trio.sleep(0.01)
                nursery.cancel_scope.cancel()
        else:
            task = asyncio.create_task(asks_once())
            while not waiting.is_set():
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    left: list[bool] = []
    ended, waiting = threading.Event(), threading.Event()
    with Peer([script]) as peer:
        if how == "error":
            with pytest.raises(ZeroDivisionError):
                LOOPS[loop](program)
        else:
            LOOPS[loop](program)
        assert ended.wait(PATIENCE)
    assert True not in left if how == "error" else left == [True]


def test_a_program_that_asks_itself_is_told_why_it_cannot(token_file: Path) -> None:
    async def asks_at(bot: Bot, **options: Any) -> None:
        async with connect(bot, peer.address, **options) as decisions:
            await anext(decisions)

    with Peer([asking(1)]) as peer:
        with pytest.raises(ArgumentError, match=re.escape("connect(Bot(name='bot', version='1'))")):
            asyncio.run(asks_at(First()))
        with pytest.raises(TypeError, match=r"connect\(\) got an unexpected keyword argument 'tokens'"):
            asyncio.run(asks_at(First(version="1"), tokens=1))
        with pytest.raises(TokenRefusedError):
            asyncio.run(asks_at(First(version="1"), token="wrong"))


def test_a_lost_connection_closes_what_it_asked(token_file: Path) -> None:
    def lost(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1))
        assert asked.wait(PATIENCE)

    def again(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield starts(1)
        yield asks((1, 1))
        assert answered(talk, 1) == {(1, 1): 2}
        yield reports(1)
        talk.wait_for_goodbye()

    async def program() -> None:
        async with connect(First(version="1"), peer.address, token_file=token_file, matches=1) as decisions:
            before = await anext(decisions)
            asked.set()
            while not before.closed:
                await asyncio.sleep(0.01)
            await before.answer(0)
            async for decision in decisions:
                await decision.answer(2)

    asked = threading.Event()
    with Peer([lost, again]) as peer:
        asyncio.run(program())
