"""gRPC's own frames inside DATA: cut anywhere, packed anyhow, wrong in every way; a wrong one ends its call only."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import Final

import grpc
import pytest
from arena_client.v1 import play_pb2 as pb
from grpc_health.v1 import health_pb2

from tests.wire.raw_http2 import (
    CHECK,
    EMPTY,
    END_STREAM,
    LIST_GAMES,
    PADDED,
    PLAY,
    Kind,
    Line,
    frame,
    message,
    settings,
    window,
)
from tests.wire.siege import MIB, Siege

OK: Final = 0
SERVING: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING).SerializeToString()
HELLO: Final = message(pb.PlayRequest(hello=pb.Hello(games=["nullern"], capacity=1)).SerializeToString())
ONE_ANSWER: Final = message(pb.PlayRequest(answers=[pb.Answer(match_id=10**9)]).SerializeToString())


def value(code: grpc.StatusCode) -> int:
    return int(code.value[0])


def playing(siege: Siege, line: Line) -> int:
    """Opens a stream to play on; its number."""
    return line.open(PLAY, ("authorization", f"Bearer {siege.token()}"))


def heard(line: Line, stream: int) -> list[pb.PlayResponse]:
    return [pb.PlayResponse.FromString(each) for each in line.answers[stream].messages]


def notices(line: Line, stream: int) -> int:
    return sum(len(each.notices) for each in heard(line, stream))


def test_an_answer_has_the_shape_that_grpc_asks_for(line: Line) -> None:
    answer = line.call()
    assert answer.headers[":status"] == "200"
    assert answer.headers["content-type"].startswith("application/grpc")
    assert answer.messages == [SERVING]
    assert answer.content[0] == 0
    assert answer.status == OK


def test_a_message_may_come_a_byte_a_frame(line: Line) -> None:
    content = message(health_pb2.HealthCheckRequest(service="arena.v1.PlayService").SerializeToString())
    stream = line.open()
    for at in range(len(content)):
        line.say(frame(Kind.DATA, 0, stream, content[at : at + 1]), frame(Kind.DATA, 0, stream))
    line.say(frame(Kind.DATA, END_STREAM, stream))
    assert line.outcome(stream).messages == [SERVING]


@pytest.mark.parametrize("padding", [0, 1, 255])
def test_padding_is_no_part_of_a_message(line: Line, padding: int) -> None:
    stream = line.open()
    for piece in (EMPTY[:2], EMPTY[2:]):
        line.say(frame(Kind.DATA, PADDED, stream, bytes([padding]) + piece + bytes(padding)))
    line.say(frame(Kind.DATA, PADDED | END_STREAM, stream, bytes([padding]) + bytes(padding)))
    assert line.outcome(stream).messages == [SERVING]


def test_padding_is_given_back(siege: Siege, line: Line) -> None:
    """A MiB of nothing but padding, with windows of 64 KiB; a server that forgot it would stop to listen."""
    stream = playing(siege, line)
    line.say(frame(Kind.DATA, 0, stream, HELLO))
    line.until(lambda: line.answers[stream].messages)
    for _ in range(64):
        for _ in range(64):
            line.say(frame(Kind.DATA, PADDED, stream, b"\xff" + bytes(255)))
        line.pongs.clear()
        line.say(frame(Kind.PING, 0, 0, bytes(8)))
        line.until(lambda: line.pongs)
    line.say(frame(Kind.DATA, 0, stream, ONE_ANSWER))
    line.until(lambda: notices(line, stream) == 1 or line.answers[stream].over)
    assert notices(line, stream) == 1


@pytest.mark.parametrize("size", [1, 3, 7, 100, 16384])
def test_many_messages_may_share_frames_cut_anywhere(siege: Siege, line: Line, size: int) -> None:
    stream = playing(siege, line)
    count = 40 if size < 100 else 400
    content = HELLO + ONE_ANSWER * count
    for at in range(0, len(content), size):
        line.say(frame(Kind.DATA, 0, stream, content[at : at + size]))
    line.until(lambda: notices(line, stream) >= count or line.answers[stream].over)
    assert notices(line, stream) == count
    assert heard(line, stream)[0].HasField("welcome")


def test_a_message_in_halves_waits_for_nobody(line: Line) -> None:
    stream = line.open()
    line.data(stream, EMPTY[:3])
    assert line.call().status == OK
    line.data(stream, EMPTY[3:], end=True)
    assert line.outcome(stream).status == OK


WRONG: Final[dict[str, tuple[bytes, tuple[str, str] | None]]] = {
    "cut off in its length": (EMPTY[:3], None),
    "cut off in its content": (message(b"\x0a", length=5), None),
    "none": (b"", None),
    "4 GiB": (message(b"x", length=(1 << 32) - 1), None),
    "a byte too long": (message(b"x", length=MIB + 1), None),
    "an unknown flag": (message(b"", flag=2), None),
    "compressed with nothing": (message(gzip.compress(b""), flag=1), None),
    "no gzip": (message(b"nonsense", flag=1), ("grpc-encoding", "gzip")),
    "gzip cut off": (message(gzip.compress(bytes(100))[:-9], flag=1), ("grpc-encoding", "gzip")),
    "a bomb": (message(gzip.compress(bytes(512 * MIB), 9), flag=1), ("grpc-encoding", "gzip")),
    "an unknown compression": (message(b"", flag=1), ("grpc-encoding", "snappy")),
    "no protobuf": (message(b"\xff\xff\xff"), None),
}


@pytest.mark.parametrize("path", [CHECK, PLAY])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_message_ends_its_call_only(siege: Siege, line: Line, wrong: str, path: str) -> None:
    content, header = WRONG[wrong]
    more = (("authorization", f"Bearer {siege.token()}"),) if path == PLAY else ()
    stream = line.open(path, *more, *([header] if header else []))
    line.data(stream, content, end=True)
    answer = line.outcome(stream)
    if path == PLAY and wrong == "none":
        return
    assert answer.status != OK
    if wrong in ("4 GiB", "a byte too long", "a bomb"):
        assert answer.status == value(grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert line.lives()


@pytest.mark.parametrize("length", [(1 << 32) - 1, MIB + 1])
def test_what_is_too_long_is_refused_before_it_comes(line: Line, length: int) -> None:
    stream = line.open()
    line.data(stream, message(b"x", length=length))
    assert line.outcome(stream).status == value(grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert line.lives()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)],
)
def test_a_compressed_request_is_read_or_refused_by_name(
    line: Line, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    content = health_pb2.HealthCheckRequest(service="arena.v1.PlayService").SerializeToString()
    flag = int(encoding != "identity")
    answer = line.call(CHECK, message(pack(content), flag=flag), ("grpc-encoding", encoding))
    if encoding == "deflate" and answer.status != OK:
        assert answer.status == value(grpc.StatusCode.UNIMPLEMENTED)
        assert "gzip" in answer.headers["grpc-accept-encoding"]
    else:
        assert answer.messages == [SERVING]


def test_a_call_that_says_gzip_may_send_plain_messages(line: Line) -> None:
    assert line.call(CHECK, EMPTY, ("grpc-encoding", "gzip"), ("grpc-accept-encoding", "gzip")).status == OK


def test_a_second_message_of_a_unary_call_does_no_harm(line: Line) -> None:
    line.call(CHECK, EMPTY + EMPTY)
    assert line.lives()


def test_trailers_end_a_request(line: Line) -> None:
    stream = line.open()
    line.data(stream, EMPTY)
    line.say(frame(Kind.HEADERS, 0x4 | END_STREAM, stream, line.encoded(("x-last", "word"))))
    assert line.outcome(stream).status == OK


def test_trailers_that_end_nothing_are_an_offence(line: Line) -> None:
    stream = line.open(PLAY)
    line.say(frame(Kind.HEADERS, 0x4, stream, line.encoded(("x-last", "word"))))
    line.until(lambda: line.answers[stream].over)
    line.cut_off_or_alive()


def test_an_unknown_method_is_unimplemented(line: Line) -> None:
    for path in ("/arena.v1.PlayService/Cheat", "/nobody.Here/Play", "/", "/a/b/c", "//", "nonsense"):
        answer = line.call(path)
        assert answer.status == value(grpc.StatusCode.UNIMPLEMENTED) or answer.reset is not None, path
    assert line.lives()


@pytest.mark.parametrize("timeout", ["", "S", "1", "-1S", "1X", "1.5S", "999999999S", "½S", "1SS", "0x1S"])
def test_a_deadline_that_is_none_ends_its_call_at_most(line: Line, timeout: str) -> None:
    line.call(CHECK, EMPTY, ("grpc-timeout", timeout))
    assert line.lives()


@pytest.mark.parametrize("timeout", ["99999999H", "99999999M", "99999999S", "99999999m", "99999999u", "9999999n"])
def test_long_deadlines_are_understood_in_every_unit(line: Line, timeout: str) -> None:
    answer = line.call(CHECK, EMPTY, ("grpc-timeout", timeout))
    assert answer.status in (OK, value(grpc.StatusCode.DEADLINE_EXCEEDED) if timeout.endswith("n") else OK)


@pytest.mark.parametrize("timeout", ["0S", "1n", "1u", "1m", "100m"])
def test_a_deadline_ends_a_call_that_waits(line: Line, timeout: str) -> None:
    stream = line.open("/grpc.health.v1.Health/Watch", ("grpc-timeout", timeout))
    line.data(stream, EMPTY, end=True)
    answer = line.outcome(stream)
    # A server may also just reset such a call: its client has ended it already.
    assert answer.status == value(grpc.StatusCode.DEADLINE_EXCEEDED) or answer.reset is not None
    assert line.lives()


def test_a_text_travels_percent_encoded(line: Line) -> None:
    content = message(health_pb2.HealthCheckRequest(service="100 % café\n").SerializeToString())
    answer = line.call(CHECK, content)
    assert answer.status == value(grpc.StatusCode.NOT_FOUND)
    said = answer.headers["grpc-message"]
    assert said.isascii()
    assert "100 %25 caf%C3%A9" in said


def test_a_peer_opens_its_window_byte_by_byte(siege: Siege) -> None:
    with Line(siege.address) as line:
        whole = line.call(LIST_GAMES).content
    with Line(siege.address, polite=False) as line:
        line.say(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=0)))
        stream = line.open(LIST_GAMES)
        line.data(stream, EMPTY, end=True)
        line.until(lambda: ":status" in line.answers[stream].headers)
        for size in (1, 4, 1, 100):
            line.say(window(stream, size))
        line.until(lambda: len(line.answers[stream].content) == 106)
        assert not line.answers[stream].ended
        line.say(window(0, MIB), frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=MIB)))
        assert line.outcome(stream).content == whole


def test_a_window_may_become_negative(siege: Siege) -> None:
    with Line(siege.address) as line:
        whole = line.call(LIST_GAMES).content
    with Line(siege.address, polite=False) as line:
        line.say(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=50)))
        stream = line.open(LIST_GAMES)
        line.data(stream, EMPTY, end=True)
        line.until(lambda: len(line.answers[stream].content) == 50)
        line.say(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=10)), window(stream, 30))
        line.say(frame(Kind.PING, 0, 0, bytes(8)))
        line.until(lambda: line.pongs)
        assert len(line.answers[stream].content) == 50
        line.say(window(stream, 20), frame(Kind.PING, 0, 0, bytes(8)))
        line.until(lambda: len(line.pongs) == 2 and len(line.answers[stream].content) >= 60)
        assert len(line.answers[stream].content) == 60
        line.say(window(0, MIB), window(stream, MIB))
        assert line.outcome(stream).content == whole
