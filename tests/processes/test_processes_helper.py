"""Helper processes: start, calls, deadline, end. Real processes, real time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from arena.processes import frames
from arena.processes import helper as helpers
from arena.processes.calls import Calls, HelperEnded
from arena.processes.frames import FrameTooLarge
from arena.processes.helper import Helper, HelperFailed, helper, keep
from arena.processes.launch import BlockingHelper
from tests.processes.obedient import LARGE

MODULE = "tests.processes.obedient"
PATIENCE = 60
"""Seconds after which a test fails."""


class Ended:
    """The reason why a helper can no longer be used."""

    wrong: str | None = None


@asynccontextmanager
async def obedient(limit: float | None = None) -> AsyncIterator[tuple[Helper, Calls, Ended]]:
    """Run a helper during the `with` block."""
    ended = Ended()
    with trio.fail_after(PATIENCE):
        async with helper(MODULE) as process, trio.open_nursery() as nursery:
            calls = Calls(process.channel, limit)

            async def run() -> None:
                ended.wrong = await calls.run()

            nursery.start_soon(run)
            yield process, calls, ended
            nursery.cancel_scope.cancel()


def alive(pid: int) -> bool:
    """Return True if a process runs. A zombie does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until_gone(*pids: int) -> None:
    with trio.fail_after(PATIENCE):
        while any(map(alive, pids)):
            await trio.sleep(0.01)


async def test_a_helper_answers_in_order_and_ends_with_the_block() -> None:
    async with obedient() as (process, calls, _):
        answers: dict[int, Any] = {}

        async def ask(value: int) -> None:
            answers[value] = await calls.call(("echo", value))

        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(ask, number)
                await trio.testing.wait_all_tasks_blocked()
        assert answers == {number: number for number in range(50)}
        assert alive(process.pid)
        assert process.status is None
    assert process.status == 0
    assert not alive(process.pid)


async def test_a_helper_knows_its_words_and_is_in_no_group_of_its_parent() -> None:
    with trio.fail_after(PATIENCE):
        async with helper(MODULE, "one", "two words") as process:
            process.channel.send(("words", None))
            [(words, *numbers)] = await process.channel.receive()
    assert words == ["one", "two words"]
    assert numbers == [process.pid, os.getpid(), process.pid]


async def test_messages_beyond_any_buffer_arrive() -> None:
    async with obedient() as (_, calls, _ended):
        first, second = bytes(LARGE), b"\1" * LARGE

        async def ask(value: bytes) -> None:
            assert await calls.call(("echo", value)) == value

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, first)
            nursery.start_soon(ask, second)


async def test_what_was_asked_before_the_end_is_answered() -> None:
    async with obedient() as (process, calls, ended):
        answers: list[Any] = []

        async def ask(value: object) -> None:
            answers.append(await calls.call(("echo", value)))

        async with trio.open_nursery() as nursery:
            for value in (1, bytes(LARGE), 2):
                nursery.start_soon(ask, value)
            await trio.testing.wait_all_tasks_blocked()
            await calls.close()
        assert sorted(map(str, answers)) == sorted(map(str, (1, bytes(LARGE), 2)))
        assert ended.wrong == ""
        with pytest.raises(HelperEnded, match=r"^it has ended$"):
            await calls.call(("echo", 3))
    assert process.status == 0


async def test_who_stops_waiting_confuses_no_later_answer() -> None:
    async with obedient() as (_, calls, _ended):
        with trio.move_on_after(0) as scope:
            await calls.call(("echo", "nobody's"))
        assert scope.cancelled_caught
        assert await calls.call(("echo", "mine")) == "mine"
        await calls.answered()


async def test_nothing_is_owed_once_what_nobody_waits_for_is_answered() -> None:
    async with obedient() as (_, calls, _ended):
        with trio.move_on_after(0):
            await calls.call(("sleep", 0.2))
        assert calls._tickets
        await calls.answered()
        assert not calls._tickets


async def test_calls_of_a_helper_that_ends_fail() -> None:
    async with obedient() as (process, calls, ended):
        with pytest.raises(HelperEnded, match=r"^it has ended$"):
            await calls.call(("end", 3))
        with pytest.raises(HelperEnded, match=r"^it has ended$"):
            await calls.call(("echo", 1))
        assert ended.wrong == ""
    assert process.status == 3


async def test_a_helper_that_leaves_messages_unread_has_ended_too() -> None:
    async with obedient() as (process, calls, ended):
        os.kill(process.pid, signal.SIGSTOP)

        async def ask() -> None:
            with pytest.raises(HelperEnded):
                await calls.call(("echo", bytes(LARGE)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            process.kill()
        assert ended.wrong == ""
    assert process.status == -signal.SIGKILL


async def test_a_helper_that_owes_an_answer_for_too_long_is_given_up_and_killed() -> None:
    async with obedient(limit=0.1) as (process, calls, ended):
        await trio.sleep(0.3)
        assert await calls.call(("echo", "it may be silent when it owes nothing")) is not None
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(HelperEnded, match=r"^no answer for \d\.\d s$"):
            await calls.call(("echo", 1))
        assert ended.wrong is not None
        assert ended.wrong.startswith("no answer")
    assert process.status == -signal.SIGKILL


async def test_a_helper_that_sends_no_frames_is_given_up() -> None:
    async with obedient() as (process, calls, _ended):
        with pytest.raises(HelperEnded, match=f"a message of {2**32 - 1} bytes is larger"):
            await calls.call(("large frame", None))
        process.kill()


async def test_a_message_that_is_too_large_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST", 1000)
    async with obedient() as (_, calls, _ended):
        with pytest.raises(FrameTooLarge):
            await calls.call(("echo", bytes(1000)))
        assert await calls.call(("echo", 1)) == 1


async def test_a_program_that_is_never_ready_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "START", 0.2)
    monkeypatch.setattr(helpers, "command", lambda *_: ["sleep", "1000"])
    with trio.fail_after(PATIENCE), pytest.raises(HelperFailed, match=f"^{MODULE} was not ready within 0 s$"):
        async with helper(MODULE):
            pytest.fail("it is not ready")


async def test_a_program_that_ends_before_it_is_ready_or_cannot_be_started_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with trio.fail_after(PATIENCE), pytest.raises(HelperFailed, match=r"^json ended before it was ready$"):
        async with helper("json"):
            pytest.fail("it is not ready")
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with pytest.raises(HelperFailed, match="/no/such/program"):
        async with helper(MODULE):
            pytest.fail("it is not there")


async def test_a_helper_that_greets_with_no_frame_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import socket; socket.socket(fileno=0).sendall(b'\\xff' * 8); input()"
    monkeypatch.setattr(helpers, "command", lambda *_: [sys.executable, "-c", script])
    with trio.fail_after(PATIENCE), pytest.raises(HelperFailed, match="is larger than"):
        async with helper(MODULE):
            pytest.fail("it is not ready")


async def test_a_start_that_is_cancelled_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    ready = helpers._ready

    async def noted(process: Helper, module: str) -> None:
        started.append(process.pid)
        scope.cancel()
        await ready(process, module)

    monkeypatch.setattr(helpers, "_ready", noted)
    with trio.CancelScope() as scope:
        async with helper(MODULE):
            pytest.fail("it was cancelled")
    assert not alive(started[0])


PARENT = """
import sys, trio
from arena.processes.helper import helper

async def main():
    async with helper("tests.processes.obedient") as process:
        process.channel.send(("sleep", float(sys.argv[1])))
        print(process.pid, flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("busy", [0, 1000])
async def test_a_helper_ends_with_its_parent_however_that_dies_and_whatever_it_does(
    number: signal.Signals, busy: int
) -> None:
    with trio.fail_after(PATIENCE):
        words = [sys.executable, "-c", PARENT, str(busy)]
        parent = await trio.lowlevel.open_process(words, stdout=-1, process_group=0)
        assert parent.stdout is not None
        told = b""
        while not told.endswith(b"\n"):
            told += await parent.stdout.receive_some()
        process = int(told)
        assert alive(process)
        os.kill(parent.pid, number)
        await parent.wait()
        await until_gone(process)


# --- restart ---


async def test_a_helper_is_started_again_at_once_or_ever_more_rarely(autojump_clock: trio.testing.MockClock) -> None:
    use = [True, True, False, False, False, False, False, False, False, False, True, False, False]
    starts: list[float] = []

    async def run() -> bool:
        starts.append(trio.current_time())
        if len(starts) > len(use):
            scope.cancel()
            await trio.lowlevel.checkpoint()
        return use[len(starts) - 1]

    with trio.CancelScope() as scope:
        await keep(run)
    pauses = [round(later - earlier, 6) for earlier, later in pairwise(starts)]
    assert pauses == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 0, 1, 2]
    assert helpers.LONGEST_PAUSE == 60


@pytest.mark.process
def test_a_helper_whose_parent_ended_while_it_started_says_nothing() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        ended = subprocess.run(
            [sys.executable, "-m", MODULE], stdin=theirs.fileno(), stderr=subprocess.PIPE, timeout=PATIENCE, check=False
        )
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.process
def test_a_thread_calls_a_helper_that_ends_with_the_block_or_when_it_is_told() -> None:
    with BlockingHelper(MODULE, "A", "B") as process:
        assert process.receive() == [None], "it is ready"
        process.send([("words", None), ("echo", bytes(LARGE))])
        answers: list[Any] = []
        while len(answers) < 2:
            answers += process.receive()
        words, large = answers
        assert words == (["A", "B"], process.process.pid, os.getpid(), process.process.pid)
        assert large == bytes(LARGE)
    assert not alive(process.process.pid)
    with BlockingHelper(MODULE) as process:
        process.receive()
        process.complete()
        assert (process.receive(), process.process.wait(PATIENCE)) == ([], 0)
        with pytest.raises(ConnectionError):
            process.send([("echo", 1)])
