"""Turns of a port: however much there is to hear, the other tasks have theirs, and nothing that is due is forgotten."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
import trio.testing

from arena.wire.port import MOMENT, Port
from arena.wire.settings import Settings
from tests.wire.grpc_rig import PATIENCE


class LongTurns:
    """Turns after each of which it is the others'."""

    def __enter__(self) -> None:
        over = trio.current_time() + MOMENT
        while trio.current_time() < over:
            pass

    def __exit__(self, *_: object) -> None:
        pass


@asynccontextmanager
async def running(port: Port) -> AsyncIterator[None]:
    """A port that takes no calls, for the block, which is cut off where it waits for ever."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(port.run, lambda *_: None)
        with trio.fail_after(PATIENCE):
            yield
        nursery.cancel_scope.cancel()


async def test_other_tasks_have_their_turn_while_there_is_always_more_to_do() -> None:
    port = Port("127.0.0.1:0", Settings())
    given_up = time.monotonic() + PATIENCE
    turns, flooding = 0, True

    def more() -> None:
        nonlocal turns, flooding
        turns += 1
        flooding = flooding and time.monotonic() < given_up
        if flooding:
            port.later(more)

    async with running(port):
        port.later(more)
        for _ in range(10):
            await trio.lowlevel.checkpoint()
        assert flooding
        assert turns > 10, "the tasks have their turn after a moment, not after each of the port's"
        flooding = False


async def test_what_becomes_due_in_a_turn_that_nobody_on_a_socket_caused_is_done() -> None:
    port = Port("127.0.0.1:0", Settings(), turn=LongTurns())
    done = trio.Event()
    async with running(port):
        await trio.testing.wait_all_tasks_blocked()
        port.later(lambda: port.later(done.set))
        await done.wait()
