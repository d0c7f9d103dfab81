"""The order in which gRPC reports the end of a stream is chance; what a handler sees of it is not."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
import trio
from trio.testing import MockClock

from arena.wire.grpc_stream import DOUBT, GrpcStream
from arena.wire.stream import Vanished


class EndedContext:
    """Of a call whose input has ended."""

    def peer(self) -> str:
        return "nobody"

    def invocation_metadata(self) -> None:
        return None

    async def read(self) -> object:
        return grpc.aio.EOF


def ended_stream() -> GrpcStream:
    context: Any = EndedContext()
    stream = GrpcStream(trio.current_time, context)
    stream.read()
    return stream


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
