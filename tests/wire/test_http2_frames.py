"""Frames that no peer should send: the offender alone is cut off, or ignored, as RFC 9113 has it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

import pytest

from tests.wire.raw_http2 import (
    ACK,
    CHECK,
    EMPTY,
    END_HEADERS,
    END_STREAM,
    PADDED,
    PREFACE,
    PRIORITISED,
    WIDEST,
    Kind,
    Line,
    frame,
    reset,
    settings,
    window,
)
from tests.wire.siege import Siege

PING: Final = frame(Kind.PING, 0, 0, b"12345678")
WATCH: Final = "/grpc.health.v1.Health/Watch"
WHOLE: Final = (1 << 32) - 1


def lone(*content: bytes) -> Callable[[Line], bytes]:
    return lambda _: b"".join(content)


def depending(stream: int, on: int) -> bytes:
    return frame(Kind.PRIORITY, 0, stream, struct.pack(">IB", on, 15))


def interrupted(between: bytes) -> Callable[[Line], bytes]:
    """A header block with something else in its middle."""

    def build(line: Line) -> bytes:
        block = line.block(CHECK)
        first = frame(Kind.HEADERS, 0, 1, block[:5])
        return first + between + frame(Kind.CONTINUATION, END_HEADERS, 1, block[5:])

    return build


def after_a_call(content: bytes | Callable[[Line], bytes]) -> Callable[[Line], bytes]:
    def build(line: Line) -> bytes:
        assert line.call().status == 0
        return content if isinstance(content, bytes) else content(line)

    return build


OFFENCES: Final[dict[str, Callable[[Line], bytes]]] = {
    "data on stream 0": lone(frame(Kind.DATA, 0, 0, EMPTY)),
    "headers on stream 0": lambda line: frame(Kind.HEADERS, END_HEADERS, 0, line.block(CHECK)),
    "data on an idle stream": lone(frame(Kind.DATA, 0, 1, EMPTY)),
    "reset of an idle stream": lone(reset(1)),
    "window of an idle stream": lone(window(1, 10)),
    "reset of stream 0": lone(reset(0)),
    "reset of three bytes": lambda line: line.opening(1) + frame(Kind.RST_STREAM, 0, 1, b"123"),
    "even stream": lambda line: line.opening(2),
    "stream with a lower number": lambda line: line.opening(5) + line.opening(3),
    "the same stream twice": lambda line: line.opening(1) + line.opening(1),
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
    "window past 2 GiB": lone(window(0, WIDEST), window(0, WIDEST)),
    "settings that widen a window past 2 GiB": lambda line: (
        line.opening(1) + window(1, WIDEST - 65535) + frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=WIDEST))
    ),
    "lone continuation": lone(frame(Kind.CONTINUATION, END_HEADERS, 1, b"")),
    "continuation after the last": lambda line: line.opening(1) + frame(Kind.CONTINUATION, END_HEADERS, 1, b""),
    "ping within headers": interrupted(PING),
    "data within headers": interrupted(frame(Kind.DATA, 0, 1, b"")),
    "unknown frame within headers": interrupted(frame(0x42, 0, 1, b"")),
    "another's continuation within headers": interrupted(frame(Kind.CONTINUATION, 0, 3, b"")),
    "push from a client": lambda line: frame(Kind.PUSH_PROMISE, END_HEADERS, 1, bytes(4) + line.block(CHECK)),
    "padding longer than the data": lambda line: line.opening(1) + frame(Kind.DATA, PADDED, 1, b"\xff1234"),
    "padding longer than the headers": lambda line: frame(
        Kind.HEADERS, END_HEADERS | PADDED, 1, b"\xff" + line.block(CHECK)
    ),
    "padding without a length": lambda line: line.opening(1) + frame(Kind.DATA, PADDED, 1),
    "frame of 16 MiB": lambda line: line.opening(1) + frame(Kind.DATA, 0, 1, b"begin", length=(1 << 24) - 1),
    "headers of 16 MiB": lone(frame(Kind.HEADERS, 0, 1, b"begin", length=(1 << 24) - 1)),
    "unknown index": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\xff\x80\x01")),
    "number without an end": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\xff" + b"\xff" * 40)),
    "table of 4 GiB": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\x3f\xff\xff\xff\xff\x0f")),
    "broken Huffman code": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\x00\x85\xff\xff\xff\xff\xff\x81\xff")),
    "name cut off": lone(frame(Kind.HEADERS, END_HEADERS, 1, b"\x00\x7fshort")),
}


@pytest.mark.parametrize("offence", OFFENCES)
def test_who_breaks_the_protocol_is_cut_off(line: Line, offence: str) -> None:
    line.say(OFFENCES[offence](line))
    assert line.is_cut_off()
    assert line.farewell != 0


IGNORED: Final[dict[str, Callable[[Line], bytes]]] = {
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
def test_what_means_nothing_is_ignored(line: Line, oddity: str) -> None:
    line.say(IGNORED[oddity](line))
    assert line.lives()


BAD_REQUESTS: Final[dict[str, Callable[[Line], bytes]]] = {
    "capitals": lambda line: line.block(CHECK, ("x-Capital", "1")),
    "a connection header": lambda line: line.block(CHECK, ("connection", "close")),
    "an unknown pseudo-header": lambda line: line.encoded((":odd", "1")) + line.block(CHECK),
    "a pseudo-header of answers": lambda line: line.encoded((":status", "200")) + line.block(CHECK),
    "a late pseudo-header": lambda line: line.block(CHECK) + line.encoded((":path", CHECK)),
    "two paths": lambda line: line.encoded((":path", CHECK)) + line.block(CHECK),
    "no path": lambda line: line.encoded(
        (":method", "POST"), (":scheme", "http"), ("content-type", "application/grpc")
    ),
    "an empty path": lambda line: line.block(""),
    "no method": lambda line: line.encoded((":path", CHECK), (":scheme", "http"), ("content-type", "application/grpc")),
    "no headers at all": lambda _: b"",
    "another te": lambda line: line.block(CHECK, ("te", "gzip")),
    "a null in a value": lambda line: line.block(CHECK, ("x", "a\0b")),
    "a line break in a value": lambda line: line.block(CHECK, ("x", "a\r\nb")),
    "GET": lambda line: line.block(CHECK, method="GET"),
    "CONNECT": lambda line: line.block(CHECK, method="CONNECT"),
    "another content": lambda line: line.encoded(
        (":method", "POST"), (":scheme", "http"), (":path", CHECK), (":authority", "x"), ("content-type", "text/html")
    ),
    "a wrong length": lambda line: line.block(CHECK, ("content-length", "77")),
    "an impossible length": lambda line: line.block(CHECK, ("content-length", "many")),
    "broken base64": lambda line: line.block(CHECK, ("trace-bin", "!!!")),
    "a broken status": lambda line: line.block(CHECK, ("grpc-status", "x")),
}


@pytest.mark.parametrize("request_", BAD_REQUESTS)
def test_a_bad_request_ends_itself_at_most_with_its_line(line: Line, request_: str) -> None:
    stream = line.stream()
    line.say(frame(Kind.HEADERS, END_HEADERS, stream, BAD_REQUESTS[request_](line)))
    line.data(stream, EMPTY, end=True)
    line.until(lambda: line.answers[stream].over)
    assert line.answers[stream].over or line.gone
    line.cut_off_or_alive()


def test_a_window_of_a_call_past_2_GiB_ends_the_call(line: Line) -> None:
    line.say(line.opening(1), window(1, WIDEST))
    line.until(lambda: line.answers[1].over)
    assert line.gone or line.answers[1].reset is not None
    line.cut_off_or_alive()


@pytest.mark.parametrize("state", ["ended by the peer", "over", "reset by the peer"])
def test_data_after_the_end_is_refused_and_costs_others_no_room(line: Line, state: str) -> None:
    match state:
        case "ended by the peer":
            line.say(line.opening(1, WATCH), frame(Kind.DATA, END_STREAM, 1, EMPTY))
        case "over":
            line.call()
        case _:
            line.say(line.opening(1), reset(1))
    for _ in range(32):  # half a MiB, where the windows are 64 KiB
        line.data(1, bytes(16000))
        line.say(PING)
    if line.cut_off_or_alive() == "alive":
        line.data(stream := line.open(), EMPTY * 0)
        assert line.call().status == 0
        line.say(reset(stream))


def test_headers_after_the_end_are_refused(line: Line) -> None:
    assert line.call().status == 0
    line.answers.clear()
    line.say(line.opening(1))
    line.until(lambda: line.answers[1].over)
    assert line.gone or line.answers[1].reset is not None
    line.cut_off_or_alive()


def test_calls_beyond_the_allowed_number_are_refused(line: Line) -> None:
    assert line.lives()
    streams = [line.open(WATCH) for _ in range(100)]
    for stream in streams:
        line.data(stream, EMPTY, end=True)
    line.until(lambda: sum(line.answers[stream].over for stream in streams) >= 92)
    if not line.gone:
        line.say(*(reset(stream) for stream in streams if not line.answers[stream].over))
        assert line.lives()


def test_the_largest_stream_number_is_a_stream(line: Line) -> None:
    line.say(line.opening(WIDEST), frame(Kind.DATA, END_STREAM, WIDEST, EMPTY))
    assert line.outcome(WIDEST).status == 0


def test_pings_are_answered_with_their_content(line: Line) -> None:
    line.say(PING, frame(Kind.PING, 0, 0, b"abcdefgh"))
    line.until(lambda: len(line.pongs) == 2)
    assert line.pongs == [b"12345678", b"abcdefgh"]


def test_settings_are_acknowledged(line: Line) -> None:
    line.say(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=1 << 20)))
    line.until(lambda: line.acknowledged == 2)
    assert line.acknowledged == 2


def test_headers_may_come_in_pieces_with_padding_and_priority(line: Line) -> None:
    block = line.block(CHECK)
    priority = struct.pack(">IB", 0, 255)
    line.say(frame(Kind.HEADERS, PADDED | PRIORITISED, 1, b"\x09" + priority + block[:1] + bytes(9)))
    for at in range(1, len(block) - 1):
        line.say(frame(Kind.CONTINUATION, 0, 1, block[at : at + 1]))
    line.say(frame(Kind.CONTINUATION, END_HEADERS, 1, block[-1:]), frame(Kind.DATA, END_STREAM, 1, EMPTY))
    assert line.outcome(1).status == 0


def test_bytes_may_come_one_at_a_time(siege: Siege) -> None:
    with Line(siege.address, greeting=b"") as line:
        text = PREFACE + frame(Kind.SETTINGS) + line.opening(1) + frame(Kind.DATA, END_STREAM, 1, EMPTY) + PING
        for at in range(len(text)):
            line.say(text[at : at + 1])
        assert line.outcome(1).status == 0
        line.until(lambda: line.pongs)
        assert line.pongs


def test_a_peer_that_says_goodbye_is_answered_first(line: Line) -> None:
    stream = line.open()
    line.say(frame(Kind.GOAWAY, 0, 0, struct.pack(">II", 0, 0) + b"so long"))
    line.data(stream, EMPTY, end=True)
    assert line.outcome(stream).status == 0
