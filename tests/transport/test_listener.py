"""Turns of a listener: other tasks run between them however much input there is, and no callback is forgotten."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from arena.transport.listener import TIME_SLICE, Listener
from arena.transport.settings import TransportSettings
from tests.transport.grpc_rig import PATIENCE

pytestmark = pytest.mark.process


class LongTurns:
    """A turn context that uses up the time slice in every turn."""

    def __enter__(self) -> None:
        over = trio.current_time() + TIME_SLICE
        while trio.current_time() < over:
            pass

    def __exit__(self, *_: object) -> None:
        pass


@asynccontextmanager
async def running(listener: Listener) -> AsyncIterator[None]:
    """Run a listener that accepts no calls, for the block; fails a block that waits for ever."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listener.run, lambda *_: None)
        with trio.fail_after(PATIENCE):
            yield
        nursery.cancel_scope.cancel()


async def test_other_tasks_have_their_turn_while_there_is_always_more_to_do() -> None:
    listener = Listener("127.0.0.1:0", TransportSettings())
    given_up = time.monotonic() + PATIENCE
    turns, flooding = 0, True

    def more() -> None:
        nonlocal turns, flooding
        turns += 1
        flooding = flooding and time.monotonic() < given_up
        if flooding:
            listener.run_next_turn(more)

    async with running(listener):
        listener.run_next_turn(more)
        for _ in range(10):
            await trio.lowlevel.checkpoint()
        assert flooding
        assert turns > 10, "other tasks run after a time slice, not after each turn"
        flooding = False


async def test_what_becomes_due_in_a_turn_that_nobody_on_a_socket_caused_is_done() -> None:
    listener = Listener("127.0.0.1:0", TransportSettings(), turn=LongTurns())
    done = trio.Event()
    async with running(listener):
        await trio.testing.wait_all_tasks_blocked()
        listener.run_next_turn(lambda: listener.run_next_turn(done.set))
        await done.wait()
