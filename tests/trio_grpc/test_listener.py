"""Turns of a listener: other tasks run between them regardless of the amount of input, and no callback is lost."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from tests.trio_grpc.grpc_rig import PATIENCE, in_thread
from tests.trio_grpc.raw_http2 import RawConnection
from trio_grpc.http2.http2_stream import Http2Stream
from trio_grpc.http2.listener import TIME_SLICE, Listener
from trio_grpc.limits.connection_limits import LOOPBACK
from trio_grpc.limits.settings import TransportSettings

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
async def running(
    listener: Listener, accept_request: Callable[..., Http2Stream | None] = lambda *_: None
) -> AsyncIterator[None]:
    """Run a listener during the `with` block; by default it accepts no calls. Fail if the `with` block never ends."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listener.run, accept_request)
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(PATIENCE):
            yield
        nursery.cancel_scope.cancel()
    listener.finish()


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


class Flag:
    """A turn context that records whether a turn is in progress."""

    up = False

    def __enter__(self) -> None:
        self.up = True

    def __exit__(self, *_: object) -> None:
        self.up = False


@pytest.mark.sources_only("its streams are of a subclass")
async def test_connections_are_checked_in_turns() -> None:
    turn = Flag()
    checked: list[bool] = []

    class Checked(Http2Stream):
        def check_timeouts(self, now: float, linger: float) -> None:
            checked.append(turn.up)

    listener = Listener("127.0.0.1:0", TransportSettings(), turn=turn)
    async with running(listener, lambda _, connection, stream_id, __: Checked(connection, stream_id)):
        with await in_thread(RawConnection, f"127.0.0.1:{listener.port}") as connection:
            connection.open()
            while not checked:
                await trio.sleep(0.01)
    assert all(checked)


async def test_a_connection_is_charged_without_a_call_and_not_read_once_the_budget_of_its_address_is_spent() -> None:
    """A thousandth of a percent of a core, saved for 10 s, is 0.1 ms. The start of a connection needs more."""
    listener = Listener("127.0.0.1:0", TransportSettings(work_untrusted=0.001))

    def is_answered_soon(connection: RawConnection) -> bool:
        connection.ping()
        connection.socket.settimeout(1.0)
        try:
            connection.until(lambda: connection.pongs)
        except TimeoutError:
            return False
        return not connection.closed

    async with running(listener):
        with await in_thread(RawConnection, f"127.0.0.1:{listener.port}") as connection:
            assert not await in_thread(is_answered_soon, connection)
            listener.work.charge(LOOPBACK, -1.0, listener.now)
            assert await in_thread(is_answered_soon, connection)
