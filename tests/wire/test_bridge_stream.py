"""The order in which gRPC's reports come is chance; what a handler sees of them is not."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import grpc
import pytest
import trio
from trio.testing import MockClock

from arena.wire.grpc_stream import DOUBT, MALFORMED, READ_AHEAD, GrpcStream
from arena.wire.stream import Refused, Vanished


class Operation:
    """A read or a write in flight, as gRPC would have it."""

    def __init__(self) -> None:
        self._message: object = None
        self._wake: Callable[[], object] | None = None

    def __await__(self) -> Generator[Operation, None, object]:
        yield self
        return self._message

    def at_once(self, wake: Callable[[], object]) -> None:
        self._wake = wake

    def complete(self, message: object) -> None:
        assert self._wake is not None
        self._message = message
        self._wake()


class Context:
    """A call whose reads and writes end when a test says so."""

    def __init__(self) -> None:
        self.reads: list[Operation] = []
        self.writes: list[Operation] = []

    def peer(self) -> str:
        return "nobody"

    def invocation_metadata(self) -> None:
        return None

    async def read(self) -> object:
        self.reads.append(Operation())
        return await self.reads[-1]

    async def write(self, _: object) -> object:
        self.writes.append(Operation())
        return await self.writes[-1]


def open_stream() -> tuple[GrpcStream, Context]:
    stream, context, _ = open_stream_in_turns()
    return stream, context


def open_stream_in_turns() -> tuple[GrpcStream, Context, list[Callable[[], None]]]:
    """A stream, its call, and what is to be done when the turn is over."""
    context: Any = Context()
    turns: list[Callable[[], None]] = []
    stream = GrpcStream(trio.current_time, turns.append, context)
    stream.read()
    return stream, context, turns


def ended_stream() -> GrpcStream:
    stream, context = open_stream()
    context.reads[0].complete(grpc.aio.EOF)
    return stream


@pytest.mark.parametrize("message_first", [False, True])
async def test_a_message_that_comes_together_with_a_cancellation_is_not_lost(message_first: bool) -> None:
    stream, context = open_stream()
    received: list[object] = []

    async def receive() -> None:
        received.append(await stream.receive())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        if message_first:
            context.reads[0].complete("first")
        nursery.cancel_scope.cancel()
        if not message_first:
            context.reads[0].complete("first")
    context.reads[1].complete("second")
    while len(received) < 2:
        received.append(await stream.receive())
    assert received == ["first", "second"]


async def test_no_more_is_read_ahead_than_said() -> None:
    stream, context = open_stream()
    for number in range(READ_AHEAD):
        context.reads[number].complete(number)
    assert len(context.reads) == READ_AHEAD
    assert [await stream.receive() for _ in range(READ_AHEAD)] == list(range(READ_AHEAD))
    assert len(context.reads) == READ_AHEAD + 1


async def test_an_end_that_turns_out_to_be_a_broken_connection_is_not_a_half_close(autojump_clock: MockClock) -> None:
    stream = ended_stream()

    async def break_soon() -> None:
        await trio.sleep(DOUBT / 2)
        stream.end(Vanished)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(break_soon)
        with pytest.raises(Vanished):
            await stream.receive()


async def test_an_end_that_is_followed_by_nothing_is_a_half_close(autojump_clock: MockClock) -> None:
    stream = ended_stream()
    ended = trio.current_time()
    assert await stream.receive() is None
    assert trio.current_time() == ended + DOUBT
    assert await stream.receive() is None
    assert trio.current_time() == ended + DOUBT


async def test_a_peer_that_breaks_off_after_its_half_close_has_vanished(autojump_clock: MockClock) -> None:
    stream = ended_stream()
    assert await stream.receive() is None
    stream.end(Vanished)
    with pytest.raises(Vanished):
        await stream.receive()


async def test_what_is_delivered_is_taken_where_it_arrives_and_the_next_is_read_when_the_turn_is_over() -> None:
    stream, context, turns = open_stream_in_turns()
    taken: list[object] = []
    context.reads[0].complete("before")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.deliver, taken.append, lambda: None)
        await trio.testing.wait_all_tasks_blocked()
        assert taken == ["before"]
        context.reads[1].complete("first")
        assert taken == ["before", "first"]
        assert len(context.reads) == 2
        turns.pop()()
        assert len(context.reads) == 3
        nursery.cancel_scope.cancel()
        context.reads[2].complete("second")
    assert taken == ["before", "first"]
    assert await stream.receive() == "second", "what comes together with a cancellation is not lost"


async def test_what_taking_raises_comes_out_and_nothing_more_is_taken() -> None:
    stream, context, turns = open_stream_in_turns()

    def take(_: object) -> None:
        raise ZeroDivisionError

    async with trio.open_nursery() as nursery:

        async def deliver() -> None:
            with pytest.raises(ZeroDivisionError):
                await stream.deliver(take, lambda: None)

        nursery.start_soon(deliver)
        await trio.testing.wait_all_tasks_blocked()
        context.reads[0].complete("first")
    assert turns == []
    assert len(context.reads) == 1


async def test_a_delivery_ends_as_receiving_does(autojump_clock: MockClock) -> None:
    stream, context, _ = open_stream_in_turns()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.deliver, [].append, lambda: None)
        await trio.testing.wait_all_tasks_blocked()
        context.reads[0].complete(grpc.aio.EOF)
    stream, context, _ = open_stream_in_turns()
    context.reads[0].complete(MALFORMED)
    with pytest.raises(Refused, match="cannot be parsed"):
        await stream.deliver([].append, lambda: None)


async def test_a_stream_is_busy_until_what_was_handed_over_has_left() -> None:
    stream, context, _ = open_stream_in_turns()
    left: list[bool] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.deliver, [].append, lambda: left.append(stream.busy))
        await trio.testing.wait_all_tasks_blocked()
        assert not stream.busy
        stream.hand_over("first")
        assert stream.busy
        context.writes[0].complete(None)
        assert left == [False]
        nursery.cancel_scope.cancel()
    stream.hand_over("second")
    stream.end(Vanished)
    assert not stream.busy, "who waits to send must learn of it"
    with pytest.raises(Vanished):
        stream.hand_over("third")
