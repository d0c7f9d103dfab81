"""Frames that no peer should send. The server ignores each, or ends only its call or its connection, as in RFC 9113."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

import pytest

from tests.trio_grpc.raw_http2 import (
    ACK,
    CHECK,
    EMPTY,
    END_HEADERS,
    END_STREAM,
    MAX_WINDOW,
    PADDED,
    PRIORITY,
    Kind,
    RawConnection,
    frame,
    reset,
    settings,
    window,
)

pytestmark = pytest.mark.process

PING: Final = frame(Kind.PING, 0, 0, b"12345678")
WATCH: Final = "/grpc.health.v1.Health/Watch"
WHOLE: Final = (1 << 32) - 1


def lone(*content: bytes) -> Callable[[RawConnection], bytes]:
    """Return a function that builds frames independent of the connection."""
    return lambda _: b"".join(content)


def depending(stream: int, on: int) -> bytes:
    return frame(Kind.PRIORITY, 0, stream, struct.pack(">IB", on, 15))


def interrupted(between: bytes) -> Callable[[RawConnection], bytes]:
    """Return a function that builds a header block with another frame in its middle."""

    def build(connection: RawConnection) -> bytes:
        block = connection.block(CHECK)
        first = frame(Kind.HEADERS, 0, 1, block[:5])
        return first + between + frame(Kind.CONTINUATION, END_HEADERS, 1, block[5:])

    return build


def after_a_call(content: bytes | Callable[[RawConnection], bytes]) -> Callable[[RawConnection], bytes]:
    def build(connection: RawConnection) -> bytes:
        assert connection.call().status == 0
        return content if isinstance(content, bytes) else content(connection)

    return build


OFFENCES: Final[dict[str, Callable[[RawConnection], bytes]]] = {
    "data on stream 0": lone(frame(Kind.DATA, 0, 0, EMPTY)),
    "headers on stream 0": lambda connection: frame(Kind.HEADERS, END_HEADERS, 0, connection.block(CHECK)),
    "data on an idle stream": lone(frame(Kind.DATA, 0, 1, EMPTY)),
    "reset of an idle stream": lone(reset(1)),
    "window of an idle stream": lone(window(1, 10)),
    "reset of stream 0": lone(reset(0)),
    "reset of three bytes": lambda connection: connection.opening(1) + frame(Kind.RST_STREAM, 0, 1, b"123"),
    "even stream": lambda connection: connection.opening(2),
    "stream with a lower number": lambda connection: connection.opening(5) + connection.opening(3),
    "the same stream twice": lambda connection: connection.opening(1) + connection.opening(1),
    "priority on stream 0": lone(depending(0, 1)),
    "settings with a stream": lone(frame(Kind.SETTINGS, 0, 1)),
    "settings of seven bytes": lone(frame(Kind.SETTINGS, 0, 0, bytes(7))),
    "acknowledgement with content": lone(frame(Kind.SETTINGS, ACK, 0, bytes(6))),
    "push of 2": lone(frame(Kind.SETTINGS, 0, 0, settings(enable_push=2))),
    "window of 4 GiB": lone(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=WHOLE))),
    "frames of 0 bytes": lone(frame(Kind.SETTINGS, 0, 0, settings(max_frame_size=0))),
    "frames of 4 GiB": lone(frame(Kind.SETTINGS, 0, 0, settings(max_frame_size=WHOLE))),
    "ping with a stream": lone(frame(Kind.PING, 0, 1, bytes(8))),
    "ping of seven bytes": lone(frame(Kind.PING, 0, 0, bytes(7))),
    "ping of a hundred bytes": lone(frame(Kind.PING, 0, 0, bytes(100))),
    "goaway with a stream": lone(frame(Kind.GOAWAY, 0, 1, bytes(8))),
    "window of nothing": lone(window(0, 0)),
    "window of three bytes": lone(frame(Kind.WINDOW_UPDATE, 0, 0, b"123")),
    "window past 2 GiB": lone(window(0, MAX_WINDOW), window(0, MAX_WINDOW)),
    "settings that widen a window past 2 GiB": lambda connection: (
        connection.opening(1)
        + window(1, MAX_WINDOW - 65535)
        + frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=MAX_WINDOW))
    ),
    "lone continuation": lone(frame(Kind.CONTINUATION, END_HEADERS, 1, b"")),
    "continuation after the last": lambda connection: (
        connection.opening(1) + frame(Kind.CONTINUATION, END_HEADERS, 1, b"")
    ),
    "ping within headers": interrupted(PING),
    "data within headers": interrupted(frame(Kind.DATA, 0, 1, b"")),
    "unknown frame within headers": interrupted(frame(0x42, 0, 1, b"")),
    "another's continuation within headers": interrupted(frame(Kind.CONTINUATION, 0, 3, b"")),
    "push from a client": lambda connection: frame(
        Kind.PUSH_PROMISE, END_HEADERS, 1, bytes(4) + connection.block(CHECK)
    ),
    "padding longer than the data": lambda connection: connection.opening(1) + frame(Kind.DATA, PADDED, 1, b"\xff1234"),
    "padding longer than the headers": lambda connection: frame(
        Kind.HEADERS, END_HEADERS | PADDED, 1, b"\xff" + connection.block(CHECK)
    ),
    "padding without a length": lambda connection: connection.opening(1) + frame(Kind.DATA, PADDED, 1),
    "frame of 16 MiB": lambda connection: (
        connection.opening(1) + frame(Kind.DATA, 0, 1, b"begin", length=(1 << 24) - 1)
    ),
    "headers of 16 MiB": lone(frame(Kind.HEADERS, 0, 1, b"begin", length=(1 << 24) - 1)),
    "unknown index": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\xff\x80\x01")),
    "number without an end": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\xff" + b"\xff" * 40)),
    "table of 4 GiB": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\x3f\xff\xff\xff\xff\x0f")),
    "broken Huffman code": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\x00\x85\xff\xff\xff\xff\xff\x81\xff")),
    "name cut off": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\x00\x7fshort")),
}


@pytest.mark.parametrize("offence", OFFENCES)
def test_who_breaks_the_protocol_is_disconnected(connection: RawConnection, offence: str) -> None:
    connection.send(OFFENCES[offence](connection))
    assert connection.wait_closed()
    assert connection.goaway_code != 0


IGNORED: Final[dict[str, Callable[[RawConnection], bytes]]] = {
    "unknown type": lone(frame(0x42, 0xFF, 0, b"hello")),
    "unknown type on an idle stream": lone(frame(0x42, 0xFF, 99, b"hello")),
    "unknown type of 16 KiB": lone(frame(0xFE, 0, 0, bytes(16384))),
    "unknown setting": lone(frame(Kind.SETTINGS, 0, 0, struct.pack(">HI", 0xFFFF, WHOLE))),
    "unknown flags": lone(frame(Kind.PING, 0xFE, 0, bytes(8))),
    "reserved bit": lone(frame(Kind.PING, 0, 1 << 31, bytes(8))),
    "reserved bit of a window": lone(frame(Kind.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 31 | 1))),
    "pong nobody asked for": lone(frame(Kind.PING, ACK, 0, bytes(8))),
    "priority of an idle stream": lone(depending(99, 0)),
    "window of a closed stream": after_a_call(window(1, 100)),
    "reset of a closed stream": after_a_call(reset(1)),
    "priority of a closed stream": after_a_call(depending(1, 0)),
    "no table": lone(frame(Kind.SETTINGS, 0, 0, settings(header_table_size=0))),
    "table of 4 GiB": lone(frame(Kind.SETTINGS, 0, 0, settings(header_table_size=WHOLE))),
    "no headers": lone(frame(Kind.SETTINGS, 0, 0, settings(max_header_list_size=1 << 14))),
    "no streams": lone(frame(Kind.SETTINGS, 0, 0, settings(max_concurrent_streams=0))),
    "frames of 16 MiB": lone(frame(Kind.SETTINGS, 0, 0, settings(max_frame_size=(1 << 24) - 1))),
    "empty settings": lone(frame(Kind.SETTINGS)),
}


@pytest.mark.parametrize("oddity", IGNORED)
def test_what_means_nothing_is_ignored(connection: RawConnection, oddity: str) -> None:
    connection.send(IGNORED[oddity](connection))
    assert connection.is_alive()


BAD_REQUESTS: Final[dict[str, Callable[[RawConnection], bytes]]] = {
    "capitals": lambda connection: connection.block(CHECK, ("x-Capital", "1")),
    "a connection header": lambda connection: connection.block(CHECK, ("connection", "close")),
    "an unknown pseudo-header": lambda connection: connection.encoded((":odd", "1")) + connection.block(CHECK),
    "a pseudo-header of answers": lambda connection: connection.encoded((":status", "200")) + connection.block(CHECK),
    "a late pseudo-header": lambda connection: connection.block(CHECK) + connection.encoded((":path", CHECK)),
    "two paths": lambda connection: connection.encoded((":path", CHECK)) + connection.block(CHECK),
    "no path": lambda connection: connection.encoded(
        (":method", "POST"), (":scheme", "http"), ("content-type", "application/grpc")
    ),
    "an empty path": lambda connection: connection.block(""),
    "no method": lambda connection: connection.encoded(
        (":path", CHECK), (":scheme", "http"), ("content-type", "application/grpc")
    ),
    "no headers at all": lambda _: b"",
    "another te": lambda connection: connection.block(CHECK, ("te", "gzip")),
    "a null in a value": lambda connection: connection.block(CHECK, ("x", "a\0b")),
    "a line break in a value": lambda connection: connection.block(CHECK, ("x", "a\r\nb")),
    "GET": lambda connection: connection.block(CHECK, method="GET"),
    "CONNECT": lambda connection: connection.block(CHECK, method="CONNECT"),
    "another content": lambda connection: connection.encoded(
        (":method", "POST"), (":scheme", "http"), (":path", CHECK), (":authority", "x"), ("content-type", "text/html")
    ),
    "a wrong length": lambda connection: connection.block(CHECK, ("content-length", "77")),
    "an impossible length": lambda connection: connection.block(CHECK, ("content-length", "many")),
    "broken base64": lambda connection: connection.block(CHECK, ("trace-bin", "!!!")),
    "a broken status": lambda connection: connection.block(CHECK, ("grpc-status", "x")),
}


@pytest.mark.parametrize("request_", BAD_REQUESTS)
def test_a_bad_request_ends_at_most_its_connection(connection: RawConnection, request_: str) -> None:
    stream = connection.stream()
    connection.send(frame(Kind.HEADERS, END_HEADERS, stream, BAD_REQUESTS[request_](connection)))
    connection.data(stream, EMPTY, end=True)
    connection.until(lambda: connection.answers[stream].over)
    assert connection.answers[stream].over or connection.closed
    connection.closed_or_alive()


def test_a_window_of_a_call_past_2_GiB_ends_the_call(connection: RawConnection) -> None:
    connection.send(connection.opening(1), window(1, MAX_WINDOW))
    connection.until(lambda: connection.answers[1].over)
    assert connection.closed or connection.answers[1].reset is not None
    connection.closed_or_alive()


@pytest.mark.parametrize("state", ["ended by the peer", "over", "reset by the peer"])
def test_data_after_the_end_is_refused_and_costs_others_no_room(connection: RawConnection, state: str) -> None:
    match state:
        case "ended by the peer":
            connection.send(connection.opening(1, WATCH), frame(Kind.DATA, END_STREAM, 1, EMPTY))
        case "over":
            connection.call()
        case _:
            connection.send(connection.opening(1), reset(1))
    for _ in range(32):  # half a MiB; the windows are 64 KiB
        connection.data(1, bytes(16000))
        connection.send(PING)
    if connection.closed_or_alive() == "alive":
        connection.data(stream := connection.open(), EMPTY * 0)
        assert connection.call().status == 0
        connection.send(reset(stream))


def test_headers_after_the_end_are_refused(connection: RawConnection) -> None:
    assert connection.call().status == 0
    connection.answers.clear()
    connection.send(connection.opening(1))
    connection.until(lambda: connection.answers[1].over)
    assert connection.closed or connection.answers[1].reset is not None
    connection.closed_or_alive()


def test_calls_beyond_the_allowed_number_are_refused(connection: RawConnection) -> None:
    assert connection.is_alive()
    streams = [connection.open(WATCH) for _ in range(100)]
    for stream in streams:
        connection.data(stream, EMPTY, end=True)
    connection.until(lambda: sum(connection.answers[stream].over for stream in streams) >= 92)
    if not connection.closed:
        connection.send(*(reset(stream) for stream in streams if not connection.answers[stream].over))
        assert connection.is_alive()


def test_the_largest_stream_number_is_a_stream(connection: RawConnection) -> None:
    connection.send(connection.opening(MAX_WINDOW), frame(Kind.DATA, END_STREAM, MAX_WINDOW, EMPTY))
    assert connection.outcome(MAX_WINDOW).status == 0


def test_headers_may_come_in_pieces_with_padding_and_priority(connection: RawConnection) -> None:
    block = connection.block(CHECK)
    priority = struct.pack(">IB", 0, 255)
    connection.send(frame(Kind.HEADERS, PADDED | PRIORITY, 1, b"\x09" + priority + block[:1] + bytes(9)))
    for at in range(1, len(block) - 1):
        connection.send(frame(Kind.CONTINUATION, 0, 1, block[at : at + 1]))
    connection.send(frame(Kind.CONTINUATION, END_HEADERS, 1, block[-1:]), frame(Kind.DATA, END_STREAM, 1, EMPTY))
    assert connection.outcome(1).status == 0


def test_calls_open_at_a_goaway_of_the_peer_are_answered(connection: RawConnection) -> None:
    stream = connection.open()
    connection.send(frame(Kind.GOAWAY, 0, 0, struct.pack(">II", 0, 0) + b"so long"))
    connection.data(stream, EMPTY, end=True)
    assert connection.outcome(stream).status == 0
