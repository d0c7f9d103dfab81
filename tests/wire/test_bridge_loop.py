"""The four doors of the nested loop."""

from __future__ import annotations

import socket
import threading
from functools import partial

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.wire.nested_loop import nested_loop


async def test_callbacks_run_soon_in_their_order_and_with_those_they_add() -> None:
    ran: list[int] = []
    async with nested_loop() as loop:
        loop.call_soon(ran.append, 1)
        loop.call_soon(partial(loop.call_soon, ran.append, 3))
        loop.call_soon(ran.append, 2)
        assert ran == []
        await wait_all_tasks_blocked()
    assert ran == [1, 2, 3]


async def test_callbacks_come_from_other_threads() -> None:
    async def ask() -> bool:
        return await loop.run_in_executor(None, lambda: threading.current_thread() is threading.main_thread())

    async with nested_loop() as loop:
        assert await loop.run(ask()) is False


async def test_alarms_ring_by_trios_clock(autojump_clock: MockClock) -> None:
    rang: list[float] = []
    async with nested_loop() as loop:
        at = loop.time() + 3600
        loop.call_at(at, lambda: rang.append(trio.current_time()))
        loop.call_later(1, lambda: rang.append(trio.current_time()))
        await trio.sleep(2)
        assert rang == [at - 3599]
        await trio.sleep(3600)
    assert rang == [at - 3599, at]


async def test_a_readable_socket_calls_back_for_every_byte() -> None:
    calls: list[bytes] = []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        async with nested_loop() as loop:
            loop.add_reader(ours, lambda: calls.append(ours.recv(1)))
            await wait_all_tasks_blocked()
            theirs.send(b"12345")
            await wait_all_tasks_blocked(0.01)
            assert calls == [b"1", b"2", b"3", b"4", b"5"]
            assert loop.remove_reader(ours)
            assert not loop.remove_reader(ours)
            theirs.send(b"6")
            await wait_all_tasks_blocked(0.01)
    assert len(calls) == 5


async def test_a_callback_that_fails_is_called_again_for_the_bytes_that_are_left() -> None:
    calls: list[bytes] = []
    ours, theirs = socket.socketpair()

    def fail() -> None:
        calls.append(ours.recv(1))
        raise RuntimeError("Event loop is closed")

    with ours, theirs:
        ours.setblocking(False)
        async with nested_loop() as loop:
            loop.add_reader(ours, fail)
            theirs.send(b"123")
            await wait_all_tasks_blocked(0.01)
    assert calls == [b"1", b"2", b"3"]


async def test_a_closed_loop_runs_nothing() -> None:
    ran: list[int] = []
    async with nested_loop() as loop:
        pass
    loop.step(lambda: ran.append(1))
    assert ran == []
