"""Floods of what costs little to send: the offender is cut off or slowed down, and nothing grows without bounds."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from typing import Final

import pytest

from tests.wire.raw_http2 import (
    ACK,
    CHECK,
    EMPTY,
    END_HEADERS,
    END_STREAM,
    LIST_GAMES,
    PATIENCE,
    PLAY,
    PREFACE,
    WIDEST,
    Kind,
    Line,
    frame,
    message,
    reset,
    settings,
    window,
)
from tests.wire.siege import Siege

CALM: Final = 11
"""ENHANCE_YOUR_CALM."""
PING: Final = frame(Kind.PING, 0, 0, b"12345678")
WATCH: Final = "/grpc.health.v1.Health/Watch"
WIDE: Final = frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=WIDEST)) + window(0, WIDEST - 65535)


@pytest.mark.parametrize("path", [CHECK, PLAY])
@pytest.mark.parametrize("code", [0, 8])
def test_ten_thousand_calls_that_are_taken_back(siege: Siege, line: Line, path: str, code: int) -> None:
    first, rest = line.opening(line.stream(), path), line.block(path)
    line.pour([first + reset(1, code)])
    taken = line.pour(
        frame(Kind.HEADERS, END_HEADERS, stream, rest) + reset(stream, code) for stream in range(3, 20_003, 2)
    )
    assert taken <= 10_000
    with Line(siege.address) as other:
        assert other.lives()


@pytest.mark.parametrize("content", [b"", b"\x00\x01x\x01y" * 1000], ids=["empty", "full"])
def test_headers_without_an_end(siege: Siege, line: Line, content: bytes) -> None:
    line.say(frame(Kind.HEADERS, 0, 1, line.block(CHECK)))
    line.pour(repeat(frame(Kind.CONTINUATION, 0, 1, content), 50_000 if not content else 5_000))
    assert line.is_cut_off()


@pytest.mark.parametrize("headers", [12, 60, 1000])
def test_a_header_list_that_is_too_large(siege: Siege, line: Line, headers: int) -> None:
    """So many KiB in all, in headers of one KiB."""
    block = line.block(CHECK) + b"".join(
        b"\x00\x04x%03d\x7f\x81\x07" % number + b"x" * 1024 for number in range(headers)
    )
    line.used(1)
    pieces = [block[at : at + 16384] for at in range(0, len(block), 16384)]
    line.say(frame(Kind.HEADERS, END_HEADERS if len(pieces) == 1 else 0, 1, pieces[0]))
    for piece in pieces[1:]:
        line.say(frame(Kind.CONTINUATION, END_HEADERS if piece is pieces[-1] else 0, 1, piece))
    line.data(1, EMPTY, end=True)
    line.until(lambda: line.answers[1].over)
    assert (
        line.gone
        or line.answers[1].status == 8
        or line.answers[1].reset is not None
        or 400 <= int(line.answers[1].headers[":status"]) < 500
    )
    line.cut_off_or_alive()


def test_a_table_of_four_gigabytes_is_not_wanted(line: Line) -> None:
    """A peer allows the server to keep as many headers for it as it likes."""
    line.say(frame(Kind.SETTINGS, 0, 0, settings(header_table_size=(1 << 32) - 1)))
    assert line.lives()
    assert line.table <= 1 << 16


def test_a_text_of_a_megabyte_is_not_said_back(line: Line) -> None:
    name = b"x" * 1_000_000
    answer = line.call(CHECK, message(b"\x0a" + b"\xc0\x84\x3d" + name))
    assert answer.status not in (None, 0)
    assert len(str(answer.headers)) < 8192
    assert line.lives()


def test_a_few_bytes_that_unfold_to_megabytes(siege: Siege, line: Line) -> None:
    """One header of 4000 bytes in the table, then four thousand references to it; 250 times."""
    large = b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000
    line.say(frame(Kind.HEADERS, END_HEADERS | END_STREAM, 1, line.block(CHECK) + large))
    line.pour(frame(Kind.HEADERS, END_HEADERS | END_STREAM, stream, b"\xbe" * 4000) for stream in range(3, 503, 2))
    line.used(501)
    line.cut_off_or_alive()


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
def test_a_flood_of_small_frames_by_one_who_reads_nothing(siege: Siege, line: Line, piece: bytes) -> None:
    line.say(line.opening(1, PLAY))
    line.pour(repeat(piece * 200, 500))
    siege.play_on()
    assert line.is_cut_off()
    with Line(siege.address) as other:
        assert other.lives()


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
def test_a_flood_of_small_frames_by_one_who_waits_for_every_hundred(siege: Siege, line: Line, piece: bytes) -> None:
    line.say(line.opening(1, PLAY), line.opening(3, PLAY), reset(3))
    for number in range(200):
        last = number.to_bytes(8, "big")
        line.say(piece * 100, frame(Kind.PING, 0, 0, last))
        line.until(partial(_ponged, line, last))
        if line.gone:
            break
    assert line.farewell == CALM
    with Line(siege.address) as other:
        assert other.lives()


def _ponged(line: Line, content: bytes) -> bool:
    return line.pongs[-1:] == [content]


def calls(line: Line, path: str, count: int) -> Iterator[bytes]:
    for number in range(count):
        stream = 2 * number + 1
        yield line.opening(stream, path) + frame(Kind.DATA, END_STREAM, stream, EMPTY)


def test_answers_that_nobody_reads_are_not_piled_up(siege: Siege, line: Line) -> None:
    """Windows are as wide as can be, so nothing but the full socket holds the server back."""
    line.say(WIDE)
    line.pour(calls(line, LIST_GAMES, 20_000))
    siege.play_on()


def test_windows_that_never_open(siege: Siege) -> None:
    lines = []
    for _ in range(50):
        line = Line(siege.address, polite=False)
        line.say(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=0)), *calls(line, LIST_GAMES, 8))
        lines.append(line)
    siege.play_on()
    for line in lines:
        while len(line.answers) < 8:
            assert line.hear()
        assert all(not answer.content for answer in line.answers.values())
        line.socket.close()


def test_a_bot_that_talks_before_it_is_known(siege: Siege, line: Line) -> None:
    """Megabytes on a stream whose token is wrong: they are not kept, and the line stays of use."""
    stream = line.open(PLAY, ("authorization", "Bearer wrong"))
    line.pour(repeat(frame(Kind.DATA, 0, stream, message(bytes(16000))), 500))
    line.cut_off_or_alive()


def test_messages_faster_than_they_are_read(siege: Siege, line: Line) -> None:
    stream = line.open(PLAY, ("authorization", f"Bearer {siege.token()}"))
    line.pour(repeat(frame(Kind.DATA, 0, stream, message(b"") * 3000), 1000))
    line.cut_off_or_alive()


def test_a_thousand_that_say_nothing(siege: Siege) -> None:
    """Nobody waits for them, and each is closed in the time that a greeting may take."""
    began = time.monotonic()
    lines = [Line(siege.address, greeting=b"" if number % 2 else PREFACE[: number % 24]) for number in range(1000)]
    siege.play_on()
    for line in lines:
        assert line.is_cut_off()
        line.socket.close()
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "beginning",
    [b"", PREFACE[:10], PREFACE, PREFACE + b"\x00\x00", PREFACE + frame(Kind.SETTINGS, length=60)],
    ids=["nothing", "half a preface", "no settings", "half a frame", "half of the settings"],
)
def test_half_a_greeting_is_waited_for_some_seconds_only(siege: Siege, beginning: bytes) -> None:
    with Line(siege.address, greeting=beginning) as line:
        assert line.is_cut_off()


@pytest.mark.parametrize("drip", [PREFACE, PREFACE + frame(0x42, 0, 0, bytes(64)) * 20], ids=["preface", "no settings"])
def test_a_greeting_that_drips_is_not_waited_for_longer(siege: Siege, drip: bytes) -> None:
    with Line(siege.address, greeting=b"") as line:
        line.socket.settimeout(0.4)
        began = time.monotonic()
        for at in range(len(drip)):
            line.say(drip[at : at + 1])
            try:
                if line.hear() is None:
                    break
            except TimeoutError:
                continue
        assert line.gone
        assert time.monotonic() - began < PATIENCE


def test_who_leaves_a_frame_half_said_is_pinged_and_given_up(siege: Siege) -> None:
    with Line(siege.address, polite=False) as line:
        line.say(line.opening(1, WATCH), frame(Kind.DATA, END_STREAM, 1, EMPTY))
        line.until(lambda: line.answers[1].messages)
        line.say(frame(Kind.DATA, 0, 3, b"some", length=1000))
        assert line.is_cut_off()
        assert line.pings


def test_a_thousand_lines_one_after_the_other(siege: Siege) -> None:
    for number in range(1000):
        with Line(siege.address) as line:
            if number % 3 == 0:
                assert line.call().status == 0
            elif number % 3 == 1:
                line.open(PLAY)


def test_a_megabyte_of_windows_in_one_breath(siege: Siege, line: Line) -> None:
    stream = line.open(WATCH)
    line.data(stream, EMPTY, end=True)
    line.pour([window(stream, 1) * 80_000])
    assert line.is_cut_off()
    assert line.farewell == CALM
