"""Messages and statuses of a gRPC call without a socket: delivery in turns, limits, malformed messages."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import grpc
import pytest
import trio
from google.protobuf.message import DecodeError
from h2.events import DataReceived, ResponseReceived, TrailersReceived, WindowUpdated

from tests.trio_grpc.http2_peer import Peer
from trio_grpc.grpc.call import CallRefused, PeerVanished
from trio_grpc.grpc.grpc_stream import QUEUED_COST, GrpcStream
from trio_grpc.http2.http2_stream import WINDOW
from trio_grpc.http2.listener import Listener
from trio_grpc.limits.settings import TransportSettings

GZIP: Final = {"grpc-encoding": "gzip"}
NONE: Final[Mapping[str, str]] = {}


SETTINGS: Final = TransportSettings(
    max_request=100_000,
    max_request_untrusted=2_000,
    max_response=100_000,
    request_timeout=10.0,
    max_memory_untrusted=10_000,
    work_untrusted=10.0,
)


class Caller:
    """A client with one call. The call is authenticated unless the test asks for an unauthenticated one."""

    def __init__(self, metadata: Mapping[str, str] = NONE, *, stranger: bool = False) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("trio_grpc.http2.listener.bind", lambda address: [])
            self.listener = Listener("nowhere", SETTINGS)
        self.next_turn()

        def parse(message: bytes) -> str:
            if b"\xff" in message:
                raise DecodeError
            return message.decode()

        stream_type: Any = partial(
            GrpcStream,
            self.listener,
            peer="nobody",
            metadata=metadata,
            parse=parse,
            serialize=str.encode,
            metadata_size=100,
        )
        self.peer: Peer[GrpcStream] = Peer(stream_type)
        self.stream = self.peer.open()
        if not stranger:
            self.stream.trust()

    def next_turn(self) -> None:
        self.listener._run_turn(())
        self.listener._in_turn = True  # the next turn begins when a test asks for it

    def say(self, *messages: bytes, compressed: int = 0, piece: int = 1 << 14) -> None:
        content = b"".join(bytes([compressed]) + len(each).to_bytes(4, "big") + each for each in messages)
        self.bytes(content, piece)

    def bytes(self, content: bytes, piece: int = 1 << 14) -> None:
        for at in range(0, len(content), piece):
            self.peer.h2.send_data(self.stream.stream_id, content[at : at + piece])
            self.peer.talk()

    def half_close(self) -> None:
        self.peer.h2.end_stream(self.stream.stream_id)
        self.peer.talk()

    def cancel(self) -> None:
        self.peer.h2.reset_stream(self.stream.stream_id)
        self.peer.talk()

    def headers(self) -> list[dict[str, str]]:
        self.peer.hear()
        return [
            {name.decode(): value.decode() for name, value in event.headers}
            for event in self.peer.events
            if isinstance(event, ResponseReceived | TrailersReceived)
        ]


@pytest.mark.parametrize("message_first", [False, True])
async def test_a_message_that_comes_together_with_a_cancellation_is_not_lost(message_first: bool) -> None:
    caller = Caller()
    received: list[object] = []

    async def receive() -> None:
        received.append(await caller.stream.receive())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        if message_first:
            caller.say(b"first")
        nursery.cancel_scope.cancel()
        if not message_first:
            caller.say(b"first")
    caller.say(b"second")
    while len(received) < 2:
        received.append(await caller.stream.receive())
    assert received == ["first", "second"]


@pytest.mark.parametrize("piece", [1, 3, 6, 1 << 14])
async def test_messages_come_whole_however_they_are_cut(piece: int) -> None:
    caller = Caller()
    messages = [b"", b"one", b"", b"x" * 300]
    caller.say(*messages, piece=piece)
    assert [await caller.stream.receive() for _ in messages] == [message.decode() for message in messages]


async def test_a_message_larger_than_the_window_comes_whole() -> None:
    caller = Caller()
    caller.say(b"x" * 100_000)
    assert await caller.stream.receive() == "x" * 100_000


async def test_who_does_not_receive_lets_the_peer_send_a_window_and_no_more() -> None:
    caller = Caller()
    for _ in range(6):
        caller.say(b"x" * 9_995)
    assert caller.stream.receive_window == WINDOW - 60_000
    assert not [event for event in caller.peer.events if isinstance(event, WindowUpdated) and event.stream_id]
    for _ in range(6):
        await caller.stream.receive()
    assert caller.stream.receive_window == WINDOW
    caller.peer.hear()
    assert [event.delta for event in caller.peer.events if isinstance(event, WindowUpdated) and event.stream_id]


async def test_what_is_delivered_is_taken_where_it_arrives_one_message_a_turn() -> None:
    caller = Caller()
    taken: list[object] = []
    caller.say(b"before")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(caller.stream.deliver, taken.append, lambda: None)
        await trio.testing.wait_all_tasks_blocked()
        caller.next_turn()
        assert taken == ["before"]
        caller.say(b"first")
        assert taken == ["before"], "a turn has one message"
        caller.next_turn()
        assert taken == ["before", "first"]
        caller.next_turn()
        caller.say(b"second", b"third", b"fourth")
        assert taken == ["before", "first", "second"]
        caller.next_turn()
        assert taken == ["before", "first", "second", "third"]
        nursery.cancel_scope.cancel()
    caller.next_turn()
    assert await caller.stream.receive() == "fourth", "what comes together with a cancellation is not lost"


async def test_what_taking_raises_comes_out_and_nothing_more_is_taken() -> None:
    caller = Caller()

    def take(_: object) -> None:
        raise ZeroDivisionError

    async with trio.open_nursery() as nursery:

        async def deliver() -> None:
            with pytest.raises(ZeroDivisionError):
                await caller.stream.deliver(take, lambda: None)

        nursery.start_soon(deliver)
        await trio.testing.wait_all_tasks_blocked()
        caller.say(b"first", b"second")
    assert caller.listener._callbacks == []


async def test_a_delivery_ends_when_all_is_taken_and_no_more_comes() -> None:
    caller = Caller()
    taken: list[object] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(caller.stream.deliver, taken.append, lambda: None)
        await trio.testing.wait_all_tasks_blocked()
        caller.say(b"first", b"second")
        caller.half_close()
        await trio.testing.wait_all_tasks_blocked()
        assert taken == ["first"]
        caller.next_turn()
    assert taken == ["first", "second"]
    assert await caller.stream.receive() is None


async def test_a_delivery_to_a_peer_that_vanishes_ends_when_all_is_taken() -> None:
    caller = Caller()
    taken: list[object] = []
    caller.say(b"first", b"second")
    caller.cancel()

    async def deliver() -> None:
        with pytest.raises(PeerVanished):
            await caller.stream.deliver(taken.append, lambda: None)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(deliver)
        await trio.testing.wait_all_tasks_blocked()
        caller.next_turn()
        caller.next_turn()
    assert taken == ["first", "second"]


async def test_a_stream_is_busy_until_what_was_handed_over_has_left() -> None:
    caller = Caller()
    left: list[bool] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(caller.stream.deliver, [].append, lambda: left.append(caller.stream.busy))
        await trio.testing.wait_all_tasks_blocked()
        assert not caller.stream.busy
        caller.stream.hand_over("first")
        assert caller.stream.busy
        caller.peer.hear()
        assert left == [False]
        nursery.cancel_scope.cancel()
    caller.stream.hand_over("second")
    caller.cancel()
    assert not caller.stream.busy, "who waits to send must learn of it"
    with pytest.raises(PeerVanished):
        caller.stream.hand_over("third")


async def test_what_is_no_message_ends_a_delivery() -> None:
    caller = Caller()

    async def deliver() -> None:
        with pytest.raises(CallRefused, match="cannot be parsed"):
            await caller.stream.deliver([].append, lambda: None)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(deliver)
        await trio.testing.wait_all_tasks_blocked()
        caller.say(b"\xff", b"more")


async def test_a_message_that_breaks_off_is_none() -> None:
    caller = Caller()
    caller.say(b"whole")
    caller.bytes(b"\0\0\0\0\x05half")
    caller.half_close()
    assert await caller.stream.receive() == "whole"
    with pytest.raises(CallRefused, match="cannot be parsed"):
        await caller.stream.receive()


@pytest.mark.parametrize("piece", [1, 5, 100])
async def test_a_message_that_says_it_is_too_large_is_refused_before_it_comes(piece: int) -> None:
    caller = Caller()
    caller.bytes(b"\0\xff\xff\xff\xff" + b"x" * 95, piece)
    with pytest.raises(CallRefused, match="at most 100000 bytes, not 4294967295") as refused:
        await caller.stream.receive()
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_compressed_messages() -> None:
    caller = Caller(GZIP)
    caller.say(gzip.compress(b"packed"), compressed=1)
    caller.say(b"plain")
    caller.say(gzip.compress(bytes(50_000_000)), compressed=1)
    caller.say(b"no gzip", compressed=1)
    assert await caller.stream.receive() == "packed"
    assert await caller.stream.receive() == "plain"
    with pytest.raises(CallRefused, match="at most 100000 bytes when decompressed"):
        await caller.stream.receive()
    with pytest.raises(CallRefused, match="cannot be parsed"):
        await caller.stream.receive()


async def test_a_message_packed_in_a_way_nobody_has_named() -> None:
    caller = Caller()
    caller.say(b"packed?", compressed=1)
    with pytest.raises(CallRefused, match="does not say how"):
        await caller.stream.receive()


async def test_an_answer_too_large_is_not_sent() -> None:
    caller = Caller()
    with pytest.raises(CallRefused, match="at most 100000 bytes"):
        caller.stream.hand_over("x" * 100_001)
    assert not caller.stream.busy


async def test_a_status_says_anything() -> None:
    caller = Caller()
    caller.stream.hand_over("answer")
    caller.stream.close(grpc.StatusCode.NOT_FOUND, "100 % ünknown\n")
    response, trailers = caller.headers()
    assert response["content-type"] == "application/grpc"
    assert trailers == {"grpc-status": "5", "grpc-message": "100 %25 %C3%BCnknown%0A"}
    assert [event.data for event in caller.peer.events if isinstance(event, DataReceived)] == [b"\0\0\0\0\6answer"]
    with pytest.raises(trio.ClosedResourceError):
        caller.stream.hand_over("more")


async def test_a_call_refused_at_once_has_one_block_of_headers() -> None:
    caller = Caller(stranger=True)
    caller.stream.close(grpc.StatusCode.UNAVAILABLE, "not now")
    (only,) = caller.headers()
    assert only.items() >= {":status": "200", "grpc-status": "14", "grpc-message": "not now"}.items()


async def test_a_stranger_may_send_small_messages_only_until_it_is_trusted() -> None:
    caller = Caller(stranger=True)
    caller.say(b"x" * 2_000)
    assert await caller.stream.receive() == "x" * 2_000
    caller.stream.trust()
    caller.say(b"x" * 100_000)
    assert await caller.stream.receive() == "x" * 100_000
    other = Caller(stranger=True)
    other.bytes(b"\0\0\0" + (2_001).to_bytes(2, "big"))
    with pytest.raises(CallRefused, match="at most 2000 bytes in a call without a valid token, not 2001") as refused:
        await other.stream.receive()
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_what_a_stranger_packs_may_be_no_larger_unpacked() -> None:
    caller = Caller(GZIP, stranger=True)
    caller.say(gzip.compress(bytes(2_000)), compressed=1)
    caller.say(gzip.compress(bytes(2_001)), compressed=1)
    assert await caller.stream.receive() == "\0" * 2_000
    with pytest.raises(CallRefused, match="at most 2000 bytes in a call without a valid token when decompressed"):
        await caller.stream.receive()


async def test_all_that_a_stranger_has_waiting_counts_until_its_call_is_over() -> None:
    caller = Caller(GZIP, stranger=True)
    budget = caller.listener.untrusted
    assert budget.held == 100, "its metadata"
    packed = gzip.compress(bytes(2_000))
    caller.say(packed, compressed=1)
    caller.say(b"", b"")
    queued = 3 * (QUEUED_COST + 5) + len(packed)
    assert budget.held == 100 + queued
    caller.bytes(b"\0\0\0\0\x09half")
    assert budget.held == 100 + queued + 9
    await caller.stream.receive()
    assert budget.held == 100 + queued + 9 - QUEUED_COST - 5 - len(packed) + 2_000, "unpacked, it is with the handler"
    await caller.stream.receive()
    assert budget.held == 100 + QUEUED_COST + 5 + 9
    caller.stream.close(grpc.StatusCode.OK)
    assert budget.held == 0


@pytest.mark.parametrize("end", [GrpcStream.trust, GrpcStream.on_lost])
async def test_nothing_counts_of_a_call_that_is_trusted_or_lost(end: Callable[[GrpcStream], None]) -> None:
    caller = Caller(stranger=True)
    caller.say(b"message")
    assert caller.listener.untrusted.held > 100
    end(caller.stream)
    assert caller.listener.untrusted.held == 0
    caller.say(b"another")
    assert caller.listener.untrusted.held == 0


async def test_a_stranger_with_too_much_waiting_is_evicted() -> None:
    caller = Caller(stranger=True)
    vanished: list[bool] = []
    caller.stream.on_vanished = lambda: vanished.append(True)
    for _ in range(10):
        caller.say(b"x" * 900)
    (only,) = caller.headers()
    assert only["grpc-status"] == "14"
    assert "short of memory" in only["grpc-message"]
    assert vanished == [True]
    with pytest.raises(PeerVanished):
        await caller.stream.receive()
    caller.stream.trust()
    assert caller.listener.untrusted.held == 0


async def test_tiny_messages_count_for_the_memory_they_take() -> None:
    caller = Caller(stranger=True)
    caller.say(*[b""] * 100)
    (only,) = caller.headers()
    assert only["grpc-status"] == "14"


@pytest.mark.parametrize("stranger", [False, True])
async def test_a_message_that_stays_incomplete_is_not_waited_for(stranger: bool) -> None:
    caller = Caller(stranger=stranger)
    now = caller.listener.now
    caller.stream.check_timeouts(now + 1000, 30.0)
    caller.listener.now += 1000
    caller.bytes(b"\0\0\0\0\x09half")
    caller.stream.check_timeouts(now + 1010, 30.0)
    caller.bytes(b"a")
    caller.stream.check_timeouts(now + 1010.5, 30.0)
    with pytest.raises(CallRefused, match="not complete within 10 s") as refused:
        await caller.stream.receive()
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_message_that_waits_for_the_handler_to_take_others_may_stay_incomplete() -> None:
    caller = Caller()
    now = caller.listener.now
    caller.say(b"whole")
    caller.bytes(b"\0\0\0\0\x09half")
    caller.stream.check_timeouts(now + 100, 30.0)
    assert await caller.stream.receive() == "whole"
    caller.stream.check_timeouts(now + 110, 30.0)
    caller.bytes(b"_done")
    assert await caller.stream.receive() == "half_done"


async def test_a_message_in_time_after_one_that_was_cut_is_not_late() -> None:
    """Each message has its own time limit, even if it begins in the frame that ends the previous message."""
    caller = Caller()
    now = caller.listener.now
    caller.bytes(b"\0\0\0\0\x04ha")
    caller.listener.now = now + 9
    caller.bytes(b"lf\0\0\0\0\x09half")
    assert await caller.stream.receive() == "half"
    caller.stream.check_timeouts(now + 18, 30.0)
    caller.bytes(b"_done")
    assert await caller.stream.receive() == "half_done"


async def test_what_comes_after_the_end_of_a_call_is_dropped_while_its_answer_waits() -> None:
    caller = Caller()
    caller.say(b"before")
    caller.stream.hand_over("x" * (WINDOW + 1))
    caller.stream.close(grpc.StatusCode.OK)
    caller.say(b"after")
    caller.bytes(b"\0\0\0\0\x09half")
    with pytest.raises(trio.ClosedResourceError):
        await caller.stream.receive()
