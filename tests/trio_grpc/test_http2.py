"""Frames, flow control and limits of an HTTP/2 connection, without a socket."""

from __future__ import annotations

import gc
import sys
from itertools import count, islice

import pytest
from h2.errors import ErrorCodes
from h2.events import DataReceived, StreamEnded, StreamReset, TrailersReceived, WindowUpdated
from h2.settings import SettingCodes
from hpack import Encoder

from tests.trio_grpc.http2_peer import REQUEST, Peer, raise_again
from tests.trio_grpc.raw_http2 import END_HEADERS, END_STREAM, PREFACE, Kind, frame
from trio_grpc.http2.http2 import (
    H2_FRAME_COST,
    MAX_H2_FRAMES_AT_ONCE,
    MAX_RESETS,
    USELESS_FRAME_BUDGET,
    Http2Connection,
    Http2Error,
)
from trio_grpc.http2.http2_stream import WINDOW, Headers, Http2Stream

pytestmark = pytest.mark.sources_only("its streams are of a subclass")

RESPONSE: Headers = [(b":status", b"200")]
TRAILERS: Headers = [(b"grpc-status", b"0")]


class Stream(Http2Stream):
    """A stream that records its data and the calls to its methods."""

    def __init__(self, connection: Http2Connection, stream_id: int) -> None:
        super().__init__(connection, stream_id)
        self.came = b""
        self.told: list[str] = []

    def on_open(self) -> None:
        self.told.append("open")

    def on_data(self, data: bytes) -> None:
        self.came += data
        self.return_window()

    def on_end(self) -> None:
        self.told.append("end")

    def on_lost(self) -> None:
        self.told.append("lost")

    def on_sent(self) -> None:
        self.told.append("left")


class Slow(Stream):
    """A stream that never enlarges the peer's window."""

    def return_window(self) -> None:
        pass


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_a_request_and_its_response_come_through_in_pieces_of_any_size(piece: int) -> None:
    peer = Peer(Stream)
    stream = peer.open()
    peer.h2.send_data(stream.stream_id, b"question", end_stream=True)
    peer.talk(piece)
    assert stream.came == b"question"
    stream.open(RESPONSE)
    stream.write(b"answer")
    stream.end(TRAILERS)
    peer.talk(piece)
    assert peer.got() == b"answer"
    assert stream.told == ["open", "end", "left"]
    assert [type(event) for event in peer.events][-1] is StreamEnded
    assert not peer.server.streams
    assert not [event for event in peer.events if isinstance(event, StreamReset)], "both had said all"


def test_a_response_that_comes_before_the_end_of_the_request_says_that_no_more_of_it_is_wanted() -> None:
    peer = Peer(Stream)
    stream = peer.open()
    stream.open(RESPONSE)
    stream.end(TRAILERS)
    assert peer.reset() is ErrorCodes.NO_ERROR


def test_what_is_larger_than_a_window_waits_for_the_peer() -> None:
    peer = Peer(Stream)
    stream = peer.open()
    stream.open(RESPONSE)
    stream.write(bytes(3 * WINDOW))
    stream.end(TRAILERS)
    peer.hear()
    assert len(peer.got()) == WINDOW
    assert "left" not in stream.told
    for _ in range(2):
        peer.h2.increment_flow_control_window(WINDOW, stream.stream_id)
        peer.h2.increment_flow_control_window(WINDOW)
        peer.talk()
    assert len(peer.got()) == 3 * WINDOW
    assert stream.told == ["open", "left"]
    assert not peer.server.streams


def test_a_peer_that_does_not_take_the_end_of_a_call_is_told_why_without_the_rest() -> None:
    peer = Peer(Stream)
    stream = peer.open()
    stream.open(RESPONSE)
    stream.write(bytes(WINDOW + 1))
    stream.check_timeouts(0.0, 30.0)
    stream.end(TRAILERS)
    for now in (100.0, 130.0):
        stream.check_timeouts(now, 30.0)
        assert peer.reset() is None
    stream.check_timeouts(130.5, 30.0)
    assert peer.reset() is ErrorCodes.NO_ERROR
    peer.hear()
    assert len(peer.got()) == WINDOW
    assert [event.headers for event in peer.events if isinstance(event, TrailersReceived)] == [list(TRAILERS)]
    assert not peer.server.stalled
    assert not peer.server.streams


def test_a_check_ends_where_the_end_of_the_first_call_shows_that_the_connection_is_lost() -> None:
    peer = Peer(Stream)
    streams = [peer.open() for _ in range(3)]
    for stream in streams:
        stream.open(RESPONSE)
        stream.write(bytes(WINDOW + 1))
        stream.end(TRAILERS)
    peer.server.check_timeouts(100.0, 30.0)
    peer.server.request_flush = peer.server.connection_lost
    peer.server.check_timeouts(130.5, 30.0)
    assert [stream.told[-1] for stream in streams] == ["open", "lost", "lost"]


def test_streams_share_a_window_that_is_short_frame_by_frame() -> None:
    peer = Peer(Stream)
    first, second = peer.open(), peer.open()
    for stream in (first, second):
        stream.open(RESPONSE)
        stream.write(bytes(WINDOW))
    peer.h2.increment_flow_control_window(20_000)
    peer.talk()
    sent = {stream.stream_id: 0 for stream in (first, second)}
    for event in peer.events:
        if isinstance(event, DataReceived):
            sent[event.stream_id] += event.flow_controlled_length
    assert sent == {first.stream_id: WINDOW, second.stream_id: 20_000}
    peer.h2.increment_flow_control_window(WINDOW)
    peer.talk()
    assert first.told == second.told == ["open", "left"]


@pytest.mark.parametrize("room", [0, 1, 9])
def test_a_short_message_waits_for_the_window_of_the_connection_though_its_stream_has_room(room: int) -> None:
    """RFC 9113, section 6.9.1: a sender respects the connection's window and each stream's own."""
    peer = Peer(Stream)
    first, second = peer.open(), peer.open()
    for stream in (first, second):
        stream.open(RESPONSE)
    first.write(bytes(WINDOW - room))
    peer.hear()
    second.write(b"ten bytes.")
    peer.hear()
    assert len(peer.got()) == WINDOW, "the connection's window, to the last byte"
    assert second.told == ["open"]
    peer.h2.increment_flow_control_window(10 - room)
    peer.talk()
    assert peer.got()[WINDOW - room :] == b"ten bytes."
    assert second.told == ["open", "left"]


@pytest.mark.parametrize("window", [0, 100, 1 << 20])
def test_a_peer_may_change_the_window_of_streams_that_are_open(window: int) -> None:
    peer = Peer(Stream)
    stream = peer.open()
    stream.open(RESPONSE)
    peer.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: window})
    peer.h2.increment_flow_control_window(1 << 20)
    peer.talk()
    stream.write(bytes(WINDOW + 10))
    peer.hear()
    assert len(peer.got()) == min(window, WINDOW + 10)
    peer.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1 << 20})
    peer.talk()
    assert len(peer.got()) == WINDOW + 10


def test_a_peer_gets_its_window_back_as_what_it_sent_is_taken() -> None:
    peer = Peer(Stream)
    stream = peer.open()
    for _ in range(100):
        peer.h2.send_data(stream.stream_id, bytes(10_000))
        peer.talk()
    assert len(stream.came) == 1_000_000
    assert {event.stream_id for event in peer.events if isinstance(event, WindowUpdated)} == {0, stream.stream_id}


def test_a_peer_that_sends_more_than_its_window_is_reset() -> None:
    peer = Peer(Slow)
    stream = peer.open()
    for _ in range(4):
        peer.frame(0, 0, stream.stream_id, bytes(1 << 14))
    assert peer.reset() is ErrorCodes.FLOW_CONTROL_ERROR
    assert stream.told == ["open", "lost"]
    assert len(stream.came) <= WINDOW


def test_padding_is_no_data_and_counts_for_the_window() -> None:
    peer = Peer(Slow)
    stream = peer.open()
    peer.frame(0, 8, stream.stream_id, b"\x03ab" + bytes(3))
    assert stream.came == b"ab"
    assert stream.receive_window == WINDOW - 6
    with pytest.raises(Http2Error, match="padding"):
        peer.frame(0, 8, stream.stream_id, b"\x03ab")


@pytest.mark.parametrize("end", ["data", "headers"])
def test_after_its_end_a_stream_takes_nothing_more(end: str) -> None:
    peer = Peer(Stream)
    stream = peer.open()
    peer.frame(0, 1, stream.stream_id, b"last")
    if end == "data":
        peer.frame(0, 0, stream.stream_id, b"more")
    else:
        peer.h2.send_headers(stream.stream_id, [("late", "yes")], end_stream=True)
        peer.talk()
    assert peer.reset() is ErrorCodes.STREAM_CLOSED
    assert stream.told == ["open", "end", "lost"]
    assert stream.came == b"last"


def test_a_request_that_says_its_length_needs_no_other_treatment() -> None:
    peer = Peer(Stream)
    peer.h2.send_headers(1, [*REQUEST, ("content-length", "8")])
    peer.h2.send_data(1, b"question", end_stream=True)
    peer.talk()
    assert peer.streams[0].told == ["open", "end"]


def refusing() -> Http2Connection:
    """Return a connection that refuses every request."""
    return Http2Connection(
        calls_per_connection=1,
        max_metadata=100,
        accept_request=lambda *_: None,
        request_flush=lambda: None,
        on_failure=raise_again,
    )


def test_a_connection_begins_with_settings() -> None:
    server = refusing()
    with pytest.raises(Http2Error, match="first frame must be SETTINGS"):
        server.receive(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + bytes(8))


class Answering(Stream):
    """A stream that sends its answer as soon as it opens."""

    def on_end(self) -> None:
        self.open(RESPONSE)
        self.end(TRAILERS)


@pytest.mark.thorough
def test_a_connection_does_not_grow_with_the_calls_that_were_made_on_it() -> None:
    connection = Http2Connection(
        calls_per_connection=1,
        max_metadata=8192,
        accept_request=lambda http2, stream_id, _: Answering(http2, stream_id),
        request_flush=lambda: None,
        on_failure=raise_again,
    )
    connection.receive(PREFACE + frame(Kind.SETTINGS))
    block = Encoder().encode(REQUEST)
    numbers = count(1, 2)

    def call(times: int) -> int:
        """Make calls. Return the number of memory blocks that they add."""
        gc.collect()
        before = sys.getallocatedblocks()
        for stream in islice(numbers, times):
            connection.receive(frame(Kind.HEADERS, END_HEADERS, stream, block) + frame(Kind.DATA, END_STREAM, stream))
            connection.outgoing.clear()
        gc.collect()
        return sys.getallocatedblocks() - before

    call(1100)
    assert call(1000) < 500


def test_calls_opened_only_to_be_taken_back_end_the_connection() -> None:
    peer = Peer(Stream)

    def rapid_reset() -> None:
        for _ in range(MAX_RESETS + 1):
            peer.h2.reset_stream(peer.open().stream_id)
        peer.talk()

    with pytest.raises(Http2Error, match="opened and reset"):
        rapid_reset()
    peer.hear()
    assert peer.events[-1].error_code is ErrorCodes.ENHANCE_YOUR_CALM  # type: ignore[attr-defined]


def test_calls_that_end_well_make_up_for_those_taken_back() -> None:
    peer = Peer(Stream)
    for _ in range(2 * MAX_RESETS):
        peer.h2.reset_stream(peer.open().stream_id)
        stream = peer.open()
        stream.open(RESPONSE)
        stream.end(TRAILERS)
        peer.talk()


def test_pings_are_answered_and_answers_noted() -> None:
    peer = Peer(Stream)
    peer.h2.ping(b"12345678")
    peer.server.ping()
    assert peer.server.ping_pending
    peer.talk()
    assert not peer.server.ping_pending
    assert "PingReceived" in {type(event).__name__ for event in peer.events}
    assert peer.server.ping_answers == [bytes([0, 0, 8, 6, 1, 0, 0, 0, 0]) + b"12345678"]


def test_after_a_goaway_of_the_server_open_calls_go_on_and_new_ones_are_refused() -> None:
    peer = Peer(Stream)
    stream = peer.open()
    peer.server.send_goaway()
    peer.h2.send_headers(3, REQUEST)
    peer.server.receive(peer.h2.data_to_send())
    assert len(peer.streams) == 1
    stream.open(RESPONSE)
    stream.end(TRAILERS)
    refusal = b"\x00\x00\x04\x03\x00" + (3).to_bytes(4, "big") + ErrorCodes.REFUSED_STREAM.to_bytes(4, "big")
    assert refusal in b"".join(peer.server.outgoing)


def test_a_lost_connection_loses_its_streams_and_unsent_data() -> None:
    peer = Peer(Stream)
    streams = [peer.open(), peer.open()]
    streams[0].open(RESPONSE)
    streams[0].write(bytes(3 * WINDOW))
    peer.server.connection_lost()
    assert [stream.told for stream in streams] == [["open", "lost"]] * 2
    assert not peer.server.outgoing


def test_writing_outside_of_a_receive_requests_a_flush() -> None:
    peer = Peer(Stream)
    stream = peer.open()
    before = peer.flush_requests
    stream.open(RESPONSE)
    stream.write(b"answer")
    assert peer.flush_requests > before


def test_returning_a_window_outside_of_a_receive_requests_a_flush() -> None:
    peer = Peer(Slow)
    stream = peer.open()
    for _ in range(2):
        peer.h2.send_data(stream.stream_id, bytes(1 << 14))
        peer.talk()
    before = peer.flush_requests
    Http2Stream.return_window(stream)
    assert peer.flush_requests > before
    peer.hear()
    assert any(isinstance(event, WindowUpdated) and event.stream_id for event in peer.events)


def test_frames_that_ask_for_nothing_are_not_taken_in_any_number_at_once() -> None:
    peer = Peer(Stream)
    priority = b"\x00\x00\x05\x02\x00\x00\x00\x00\x01" + bytes(4) + b"\x10"
    for _ in range(2):
        peer.server.receive(priority * MAX_H2_FRAMES_AT_ONCE)
    with pytest.raises(Http2Error, match="frames at once"):
        peer.server.receive(priority * (MAX_H2_FRAMES_AT_ONCE + 1))


USELESS_FRAMES = {
    "pings": (6, 0, 0, bytes(8)),
    "pongs": (6, 1, 0, bytes(8)),
    "windows": (8, 0, 0, b"\x00\x00\x00\x01"),
    "windows of closed streams": (8, 0, 1, b"\x00\x00\x00\x01"),
    "empty data": (0, 0, 3, b""),
    "padding": (0, 8, 3, b"\x03" + bytes(3)),
    "GOAWAY": (7, 0, 0, bytes(8)),
}
USELESS_H2_FRAMES = {
    "priorities": (2, 0, 1, bytes(4) + b"\x10"),
    "settings": (4, 0, 0, b""),
    "acknowledgements": (4, 1, 0, b""),
    "unknown frames": (0x42, 0, 0, b""),
    "resets of closed streams": (3, 0, 1, bytes(4)),
}


@pytest.mark.parametrize("kind", [*USELESS_FRAMES, *USELESS_H2_FRAMES])
def test_frames_that_ask_for_nothing_end_the_connection_however_slowly_they_come(kind: str) -> None:
    peer = Peer(Stream)
    peer.h2.reset_stream(peer.open().stream_id)
    peer.open()
    most = USELESS_FRAME_BUDGET if kind in USELESS_FRAMES else USELESS_FRAME_BUDGET // H2_FRAME_COST

    def pour(count: int) -> None:
        for _ in range(count):
            peer.frame(*(USELESS_FRAMES | USELESS_H2_FRAMES)[kind])
            peer.server.outgoing.clear()

    pour(most // 2)
    with pytest.raises(Http2Error, match="too many useless frames"):
        pour(most)
    goaway = b"".join(peer.server.outgoing)
    assert ErrorCodes.ENHANCE_YOUR_CALM.to_bytes(4, "big") + b"too many useless frames" in goaway


def test_time_makes_up_for_frames_that_ask_for_nothing() -> None:
    peer = Peer(Stream)
    for _ in range(3 * USELESS_FRAME_BUDGET):
        peer.frame(*USELESS_FRAMES["pings"])
        peer.server.refund_useless_frames(1)
        peer.server.outgoing.clear()


@pytest.mark.parametrize("size", [100, 5 * WINDOW])
def test_who_pings_and_opens_windows_for_every_message_it_gets_is_never_cut_off(size: int) -> None:
    """gRPC clients send such pings to probe the bandwidth-delay product."""
    peer = Peer(Stream)
    stream = peer.open()
    stream.open(RESPONSE)
    sent = 0
    while sent < 3 * USELESS_FRAME_BUDGET:
        stream.write(bytes(size))
        all_there = False
        while not all_there:
            all_there = bool(peer.server.fully_queued)
            peer.frame(*USELESS_FRAMES["pings"])
            for number in (0, stream.stream_id):
                peer.frame(8, 0, number, (1 << 13).to_bytes(4, "big"))
            sent += 3
            peer.server.outgoing.clear()
        peer.server.outgoing_sent()
