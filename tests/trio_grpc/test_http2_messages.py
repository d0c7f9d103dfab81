"""gRPC messages inside DATA frames: split anywhere, compressed, malformed. A malformed one ends only its call."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import Final

import grpc
import pytest
from grpc_health.v1 import health_pb2

from tests.trio_grpc.echo import GET, NAME, SAY, Item
from tests.trio_grpc.loaded_server import MIB, TOKEN, LoadedServer
from tests.trio_grpc.raw_http2 import (
    CHECK,
    EMPTY,
    END_STREAM,
    PADDED,
    Kind,
    RawConnection,
    frame,
    message,
    settings,
    window,
)

pytestmark = pytest.mark.process

OK: Final = 0
SERVING: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING).SerializeToString()
ONE: Final = message(Item(number=1).SerializeToString())


def value(code: grpc.StatusCode) -> int:
    return int(code.value[0])


def heard(connection: RawConnection, stream: int) -> list[int]:
    return [Item.FromString(each).number for each in connection.answers[stream].messages]


def test_an_answer_has_the_shape_that_grpc_asks_for(connection: RawConnection) -> None:
    answer = connection.call()
    assert answer.headers[":status"] == "200"
    assert answer.headers["content-type"].startswith("application/grpc")
    assert answer.messages == [SERVING]
    assert answer.content[0] == 0
    assert answer.status == OK


@pytest.mark.parametrize("padding", [0, 1, 255])
def test_padding_is_no_part_of_a_message(connection: RawConnection, padding: int) -> None:
    stream = connection.open()
    for piece in (EMPTY[:2], EMPTY[2:]):
        connection.send(frame(Kind.DATA, PADDED, stream, bytes([padding]) + piece + bytes(padding)))
    connection.send(frame(Kind.DATA, PADDED | END_STREAM, stream, bytes([padding]) + bytes(padding)))
    assert connection.outcome(stream).messages == [SERVING]


def test_padding_is_given_back(connection: RawConnection) -> None:
    """Send a MiB of padding only, with windows of 64 KiB. A server that did not enlarge them again would block the
    peer.
    """
    stream = connection.open(SAY, TOKEN)
    connection.send(frame(Kind.DATA, 0, stream, ONE))
    connection.until(lambda: connection.answers[stream].messages)
    for _ in range(64):
        for _ in range(64):
            connection.send(frame(Kind.DATA, PADDED, stream, b"\xff" + bytes(255)))
        connection.pongs.clear()
        connection.send(frame(Kind.PING, 0, 0, bytes(8)))
        connection.until(lambda: connection.pongs)
    connection.send(frame(Kind.DATA, 0, stream, ONE))
    connection.until(lambda: len(heard(connection, stream)) == 2 or connection.answers[stream].over)
    assert heard(connection, stream) == [1, 1]


def bomb() -> bytes:
    """Return 512 MiB of zeros, compressed as one repeated MiB. Only the checksum at the end is wrong, and the server
    should not read that far.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    first, again = (packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * 511 + packer.flush()


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
    "a bomb": (message(bomb(), flag=1), ("grpc-encoding", "gzip")),
    "an unknown compression": (message(b"", flag=1), ("grpc-encoding", "snappy")),
    "no protobuf": (message(b"\xff\xff\xff"), None),
}


@pytest.mark.parametrize("path", [CHECK, SAY])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_message_ends_its_call_only(connection: RawConnection, wrong: str, path: str) -> None:
    content, header = WRONG[wrong]
    more = (TOKEN,) if path == SAY else ()
    stream = connection.open(path, *more, *([header] if header else []))
    connection.upload(stream, content)
    answer = connection.outcome(stream)
    if path == SAY and wrong == "none":
        return
    assert answer.status != OK
    if wrong in ("4 GiB", "a byte too long", "a bomb"):
        assert answer.status == value(grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert connection.is_alive()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)],
)
def test_a_compressed_request_is_read_or_refused_by_name(
    connection: RawConnection, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    content = health_pb2.HealthCheckRequest(service=NAME).SerializeToString()
    flag = int(encoding != "identity")
    answer = connection.call(CHECK, message(pack(content), flag=flag), ("grpc-encoding", encoding))
    if encoding == "deflate" and answer.status != OK:
        assert answer.status == value(grpc.StatusCode.UNIMPLEMENTED)
        assert "gzip" in answer.headers["grpc-accept-encoding"]
    else:
        assert answer.messages == [SERVING]


def test_a_second_message_of_a_unary_call_is_harmless(connection: RawConnection) -> None:
    connection.call(CHECK, EMPTY + EMPTY)
    assert connection.is_alive()


def test_trailers_end_a_request(connection: RawConnection) -> None:
    stream = connection.open()
    connection.data(stream, EMPTY)
    connection.send(frame(Kind.HEADERS, 0x4 | END_STREAM, stream, connection.encoded(("x-last", "word"))))
    assert connection.outcome(stream).status == OK


def test_trailers_that_end_nothing_are_an_offence(connection: RawConnection) -> None:
    stream = connection.open(SAY)
    connection.send(frame(Kind.HEADERS, 0x4, stream, connection.encoded(("x-last", "word"))))
    connection.until(lambda: connection.answers[stream].over)
    connection.closed_or_alive()


def test_an_unknown_method_is_unimplemented(connection: RawConnection) -> None:
    for path in (f"/{NAME}/Cheat", "/nobody.Here/Play", "/", "/a/b/c", "//", "nonsense"):
        answer = connection.call(path)
        assert answer.status == value(grpc.StatusCode.UNIMPLEMENTED) or answer.reset is not None, path
    assert connection.is_alive()


@pytest.mark.parametrize("timeout", ["", "S", "1", "-1S", "1X", "1.5S", "999999999S", "½S", "1SS", "0x1S"])
def test_a_deadline_that_is_none_ends_its_call_at_most(connection: RawConnection, timeout: str) -> None:
    connection.call(CHECK, EMPTY, ("grpc-timeout", timeout))
    assert connection.is_alive()


@pytest.mark.parametrize("timeout", ["99999999H", "99999999M", "99999999S", "99999999m", "99999999u", "9999999n"])
def test_long_deadlines_are_understood_in_every_unit(connection: RawConnection, timeout: str) -> None:
    answer = connection.call(CHECK, EMPTY, ("grpc-timeout", timeout))
    assert answer.status in (OK, value(grpc.StatusCode.DEADLINE_EXCEEDED) if timeout.endswith("n") else OK)


@pytest.mark.parametrize("timeout", ["0S", "1n", "1u", "1m", "100m"])
def test_a_deadline_ends_a_call_that_waits(connection: RawConnection, timeout: str) -> None:
    stream = connection.open("/grpc.health.v1.Health/Watch", ("grpc-timeout", timeout))
    connection.data(stream, EMPTY, end=True)
    answer = connection.outcome(stream)
    # A server may also reset such a call, because the client has already ended it.
    assert answer.status == value(grpc.StatusCode.DEADLINE_EXCEEDED) or answer.reset is not None
    assert connection.is_alive()


def test_a_peer_opens_its_window_byte_by_byte(loaded_server: LoadedServer) -> None:
    with RawConnection(loaded_server.address) as connection:
        whole = connection.call(GET).content
    with RawConnection(loaded_server.address, auto_reply=False) as connection:
        connection.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=0)))
        stream = connection.open(GET)
        connection.data(stream, EMPTY, end=True)
        connection.until(lambda: ":status" in connection.answers[stream].headers)
        for size in (1, 4, 1, 100):
            connection.send(window(stream, size))
        connection.until(lambda: len(connection.answers[stream].content) == 106)
        assert not connection.answers[stream].ended
        connection.send(window(0, MIB), frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=MIB)))
        assert connection.outcome(stream).content == whole


def test_a_window_may_become_negative(loaded_server: LoadedServer) -> None:
    with RawConnection(loaded_server.address) as connection:
        whole = connection.call(GET).content
    with RawConnection(loaded_server.address, auto_reply=False) as connection:
        connection.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=50)))
        stream = connection.open(GET)
        connection.data(stream, EMPTY, end=True)
        connection.until(lambda: len(connection.answers[stream].content) == 50)
        connection.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=10)), window(stream, 30))
        connection.send(frame(Kind.PING, 0, 0, bytes(8)))
        connection.until(lambda: connection.pongs)
        assert len(connection.answers[stream].content) == 50
        connection.send(window(stream, 20), frame(Kind.PING, 0, 0, bytes(8)))
        connection.until(lambda: len(connection.pongs) == 2 and len(connection.answers[stream].content) >= 60)
        assert len(connection.answers[stream].content) == 60
        connection.send(window(0, MIB), window(stream, MIB))
        assert connection.outcome(stream).content == whole
