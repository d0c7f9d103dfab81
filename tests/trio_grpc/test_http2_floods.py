"""Floods of input that is cheap to send. The server disconnects or slows the sender, and its memory stays bounded."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from typing import Final

import pytest
from grpc_health.v1 import health_pb2

from tests.trio_grpc.echo import GET, SAY
from tests.trio_grpc.loaded_server import TOKEN, LoadedServer
from tests.trio_grpc.raw_http2 import (
    ACK,
    CHECK,
    EMPTY,
    END_HEADERS,
    END_STREAM,
    MAX_WINDOW,
    PATIENCE,
    PREFACE,
    Kind,
    RawConnection,
    frame,
    message,
    reset,
    settings,
    window,
)

pytestmark = pytest.mark.process

CALM: Final = 11
"""The code ENHANCE_YOUR_CALM (RFC 9113, section 7)."""
PING: Final = frame(Kind.PING, 0, 0, b"12345678")
WATCH: Final = "/grpc.health.v1.Health/Watch"
WIDE: Final = frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=MAX_WINDOW)) + window(0, MAX_WINDOW - 65535)


@pytest.mark.parametrize("path", [CHECK, SAY])
@pytest.mark.parametrize("code", [0, 8])
def test_ten_thousand_calls_that_are_taken_back(
    loaded_server: LoadedServer, connection: RawConnection, path: str, code: int
) -> None:
    first, rest = connection.opening(connection.stream(), path), connection.block(path)
    connection.send_until_blocked([first + reset(1, code)])
    taken = connection.send_until_blocked(
        frame(Kind.HEADERS, END_HEADERS, stream, rest) + reset(stream, code) for stream in range(3, 20_003, 2)
    )
    assert taken <= 10_000
    with RawConnection(loaded_server.address) as other:
        assert other.is_alive()


@pytest.mark.parametrize("content", [b"", b"\x00\x01x\x01y" * 1000], ids=["empty", "full"])
def test_headers_without_an_end(loaded_server: LoadedServer, connection: RawConnection, content: bytes) -> None:
    connection.send(frame(Kind.HEADERS, 0, 1, connection.block(CHECK)))
    connection.send_until_blocked(repeat(frame(Kind.CONTINUATION, 0, 1, content), 50_000 if not content else 5_000))
    assert connection.wait_closed()


@pytest.mark.parametrize("headers", [12, 60, 1000])
def test_a_header_list_that_is_too_large(loaded_server: LoadedServer, connection: RawConnection, headers: int) -> None:
    """Send a given number of headers of one KiB."""
    block = connection.block(CHECK) + b"".join(
        b"\x00\x04x%03d\x7f\x81\x07" % number + b"x" * 1024 for number in range(headers)
    )
    connection.used(1)
    pieces = [block[at : at + 16384] for at in range(0, len(block), 16384)]
    connection.send(frame(Kind.HEADERS, END_HEADERS if len(pieces) == 1 else 0, 1, pieces[0]))
    for piece in pieces[1:]:
        connection.send(frame(Kind.CONTINUATION, END_HEADERS if piece is pieces[-1] else 0, 1, piece))
    connection.data(1, EMPTY, end=True)
    connection.until(lambda: connection.answers[1].over)
    assert (
        connection.closed
        or connection.answers[1].status == 8
        or connection.answers[1].reset is not None
        or 400 <= int(connection.answers[1].headers[":status"]) < 500
    )
    connection.closed_or_alive()


def test_a_dynamic_table_of_four_gigabytes_is_not_used(connection: RawConnection) -> None:
    """A peer may allow the server a dynamic table of any size. The server need not use all of it."""
    connection.send(frame(Kind.SETTINGS, 0, 0, settings(header_table_size=(1 << 32) - 1)))
    assert connection.is_alive()
    assert connection.table <= 1 << 16


def test_a_long_text_is_not_said_back(connection: RawConnection) -> None:
    name = "x" * 16_000
    answer = connection.call(CHECK, message(health_pb2.HealthCheckRequest(service=name).SerializeToString()))
    assert answer.status == 5
    assert len(str(answer.headers)) < 8192
    assert connection.is_alive()


def test_a_few_bytes_that_decompress_to_megabytes_of_headers(
    loaded_server: LoadedServer, connection: RawConnection
) -> None:
    """Send one header of 4,000 bytes for the dynamic table and then 4,000 references to it, 250 times."""
    large = b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000
    connection.send(frame(Kind.HEADERS, END_HEADERS | END_STREAM, 1, connection.block(CHECK) + large))
    connection.send_until_blocked(
        frame(Kind.HEADERS, END_HEADERS | END_STREAM, stream, b"\xbe" * 4000) for stream in range(3, 503, 2)
    )
    connection.used(501)
    connection.closed_or_alive()


@pytest.mark.parametrize(
    "piece",
    [
        PING,
        frame(Kind.SETTINGS),
        frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=1000) * 100),
        frame(Kind.SETTINGS, 0, 0, settings(header_table_size=0) + settings(header_table_size=4096)),
        window(0, 1),
        frame(Kind.PRIORITY, 0, 1, struct.pack(">IB", 0, 1)),
        frame(0x42, 0, 0, b"hello"),
        frame(Kind.PING, ACK, 0, bytes(8)),
        frame(Kind.DATA, 0, 1),
        frame(Kind.DATA, 0x8, 1, b"\x00"),
    ],
    ids=[
        "pings",
        "settings",
        "many settings",
        "tables",
        "windows",
        "priorities",
        "unknown",
        "pongs",
        "empty data",
        "empty padded data",
    ],
)
def test_a_flood_of_small_frames_by_one_who_reads_nothing(
    loaded_server: LoadedServer, connection: RawConnection, piece: bytes
) -> None:
    connection.send(connection.opening(1, SAY))
    connection.send_until_blocked(repeat(piece * 200, 500))
    loaded_server.talk_on()
    assert connection.wait_closed()
    with RawConnection(loaded_server.address) as other:
        assert other.is_alive()


@pytest.mark.parametrize(
    "piece",
    [
        PING,
        window(0, 1),
        frame(Kind.DATA, 0, 1),
        frame(Kind.SETTINGS),
        frame(Kind.PRIORITY, 0, 1, struct.pack(">IB", 0, 1)),
        reset(3),
    ],
    ids=["pings", "windows", "empty data", "settings", "priorities", "resets of a closed stream"],
)
def test_a_flood_of_small_frames_by_one_who_waits_for_every_hundred(
    loaded_server: LoadedServer, connection: RawConnection, piece: bytes
) -> None:
    connection.send(connection.opening(1, SAY), connection.opening(3, SAY), reset(3))
    for number in range(200):
        last = number.to_bytes(8, "big")
        connection.send(piece * 100, frame(Kind.PING, 0, 0, last))
        connection.until(partial(_ponged, connection, last))
        if connection.closed:
            break
    assert connection.goaway_code == CALM
    with RawConnection(loaded_server.address) as other:
        assert other.is_alive()


def _ponged(connection: RawConnection, content: bytes) -> bool:
    return connection.pongs[-1:] == [content]


def calls(connection: RawConnection, path: str, count: int) -> Iterator[bytes]:
    for number in range(count):
        stream = 2 * number + 1
        yield connection.opening(stream, path) + frame(Kind.DATA, END_STREAM, stream, EMPTY)


def test_answers_that_nobody_reads_are_not_piled_up(loaded_server: LoadedServer, connection: RawConnection) -> None:
    """The flow-control windows have their largest size, so that only the full socket stops the server."""
    connection.send(WIDE)
    connection.send_until_blocked(calls(connection, GET, 20_000))
    loaded_server.talk_on()


def test_windows_that_never_open(loaded_server: LoadedServer) -> None:
    connections = []
    for _ in range(50):
        connection = RawConnection(loaded_server.address, auto_reply=False)
        connection.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=0)), *calls(connection, GET, 8))
        connections.append(connection)
    loaded_server.talk_on()
    for connection in connections:
        while len(connection.answers) < 8:
            assert connection.receive()
        assert all(not answer.content for answer in connection.answers.values())
        connection.socket.close()


def test_a_bot_that_sends_before_it_is_authenticated(loaded_server: LoadedServer, connection: RawConnection) -> None:
    """The server does not store megabytes on a stream with a wrong token, and the connection remains usable."""
    stream = connection.open(SAY, ("authorization", "Bearer wrong"))
    connection.send_until_blocked(repeat(frame(Kind.DATA, 0, stream, message(bytes(16000))), 500))
    connection.closed_or_alive()


def test_messages_faster_than_they_are_read(loaded_server: LoadedServer, connection: RawConnection) -> None:
    stream = connection.open(SAY, TOKEN)
    connection.send_until_blocked(repeat(frame(Kind.DATA, 0, stream, message(b"") * 3000), 1000))
    connection.closed_or_alive()


def test_a_thousand_that_say_nothing(loaded_server: LoadedServer) -> None:
    """No client waits for these connections. The server closes each after the handshake timeout."""
    began = time.monotonic()
    connections = [
        RawConnection(loaded_server.address, preamble=b"" if number % 2 else PREFACE[: number % 24])
        for number in range(1000)
    ]
    loaded_server.talk_on()
    for connection in connections:
        assert connection.wait_closed()
        connection.socket.close()
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "beginning",
    [b"", PREFACE[:10], PREFACE, PREFACE + b"\x00\x00", PREFACE + frame(Kind.SETTINGS, length=60)],
    ids=["nothing", "half a preface", "no settings", "half a frame", "half of the settings"],
)
def test_half_a_greeting_is_waited_for_some_seconds_only(loaded_server: LoadedServer, beginning: bytes) -> None:
    with RawConnection(loaded_server.address, preamble=beginning) as connection:
        assert connection.wait_closed()


@pytest.mark.parametrize("drip", [PREFACE, PREFACE + frame(0x42, 0, 0, bytes(64)) * 20], ids=["preface", "no settings"])
def test_a_greeting_that_drips_is_not_waited_for_longer(loaded_server: LoadedServer, drip: bytes) -> None:
    with RawConnection(loaded_server.address, preamble=b"") as connection:
        connection.socket.settimeout(0.4)
        began = time.monotonic()
        for at in range(len(drip)):
            connection.send(drip[at : at + 1])
            try:
                if connection.receive() is None:
                    break
            except TimeoutError:
                continue
        assert connection.closed
        assert time.monotonic() - began < PATIENCE


def test_a_peer_that_stops_within_a_frame_is_pinged_and_disconnected(loaded_server: LoadedServer) -> None:
    with RawConnection(loaded_server.address, auto_reply=False) as connection:
        connection.send(connection.opening(1, WATCH), frame(Kind.DATA, END_STREAM, 1, EMPTY))
        connection.until(lambda: connection.answers[1].messages)
        connection.send(frame(Kind.DATA, 0, 3, b"some", length=1000))
        assert connection.wait_closed()
        assert connection.pings


def test_a_thousand_connections_one_after_the_other(loaded_server: LoadedServer) -> None:
    for number in range(1000):
        with RawConnection(loaded_server.address) as connection:
            if number % 3 == 0:
                assert connection.call().status == 0
            elif number % 3 == 1:
                connection.open(SAY)


def test_a_megabyte_of_window_updates_at_once(loaded_server: LoadedServer, connection: RawConnection) -> None:
    stream = connection.open(WATCH)
    connection.data(stream, EMPTY, end=True)
    connection.send_until_blocked([window(stream, 1) * 80_000])
    assert connection.wait_closed()
    assert connection.goaway_code == CALM
