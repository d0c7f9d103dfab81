"""The in-memory stream behaves like a real stream, under a virtual clock."""

from __future__ import annotations

import grpc
import pytest
import trio
from trio.testing import MockClock

from tests.trio_grpc.memory import MemoryPeer, MemoryStream
from trio_grpc.grpc.call import CallRefused, PeerVanished, Stream


async def test_an_hour_between_messages_costs_nothing_and_is_stamped(autojump_clock: MockClock) -> None:
    async def handler(stream: Stream[str, float]) -> None:
        while await stream.receive() is not None:
            await trio.sleep(60)
            await stream.send(stream.received_at)

    async with trio.open_nursery() as nursery:
        peer = MemoryPeer[str, float]()
        began = trio.current_time()
        nursery.start_soon(peer.converse, handler)
        await trio.sleep(3600)
        peer.send("first")
        await trio.sleep(10)
        peer.send("second")
        assert await peer.receive() == began + 3600
        assert await peer.receive() == began + 3610
        peer.half_close()
        assert await peer.receive() is None
    assert peer.status is None


async def test_a_peer_that_does_not_read_holds_the_sender(autojump_clock: MockClock) -> None:
    peer = MemoryPeer[str, int]()
    stream = peer.stream
    await stream.send(1)
    with trio.move_on_after(1) as patience:
        await stream.send(2)
    assert patience.cancelled_caught
    assert await peer.receive() == 1
    await stream.send(3)
    assert await peer.receive() == 3


async def test_what_arrived_is_received_before_the_end() -> None:
    for end, ending in (("half_close", None), ("vanish", PeerVanished)):
        peer = MemoryPeer[str, str]()
        stream = peer.stream
        peer.send("last")
        getattr(peer, end)()
        assert await stream.receive() == "last"
        if ending is None:
            assert await stream.receive() is None
        else:
            with pytest.raises(ending):
                await stream.receive()
            with pytest.raises(ending):
                await stream.send("unheard")


async def test_a_waiting_handler_is_told_that_its_peer_vanished() -> None:
    async def handler(stream: MemoryStream[str, str]) -> None:
        with pytest.raises(PeerVanished):
            await stream.receive()
        raise CallRefused(grpc.StatusCode.ABORTED, "gone")

    async with trio.open_nursery() as nursery:
        peer = MemoryPeer[str, str]()
        nursery.start_soon(peer.converse, handler)
        await trio.testing.wait_all_tasks_blocked()
        peer.vanish()
    assert peer.status is not None
    assert peer.status.code is grpc.StatusCode.ABORTED


async def test_an_ended_handler_sends_no_more() -> None:
    async def handler(stream: MemoryStream[str, str]) -> None:
        await stream.send("bye")

    peer = MemoryPeer[str, str]()
    await peer.converse(handler)
    with pytest.raises(trio.ClosedResourceError):
        await peer.stream.send("more")
    assert await peer.receive() == "bye"
    assert await peer.receive() is None
