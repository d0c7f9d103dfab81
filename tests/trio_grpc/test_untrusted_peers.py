"""Memory and time of peers without a token, over real sockets: limits, deadlines, eviction, and no cyclic garbage."""

from __future__ import annotations

import gc
import gzip
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any, Final

import grpc
import pytest
import trio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from h2.connection import H2Connection

from tests.trio_grpc.echo import GET, SAY, EchoStream, Item, service
from tests.trio_grpc.grpc_rig import PATIENCE, echo_service, in_thread, serving
from tests.trio_grpc.raw_http2 import (
    CHECK,
    DEFAULT_WINDOW,
    EMPTY,
    END_HEADERS,
    Answer,
    Kind,
    RawConnection,
    frame,
    message,
    settings,
    window,
)
from trio_grpc.grpc.call import Call, CallRefused
from trio_grpc.grpc.grpc_stream import GrpcStream
from trio_grpc.grpc.health import Health
from trio_grpc.grpc.server import Service
from trio_grpc.http2.connection import Connection
from trio_grpc.http2.http2 import Http2Connection
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

CALM: Final = 11
"""The code ENHANCE_YOUR_CALM (RFC 9113, section 7)."""
KIB: Final = 1 << 10
MIB: Final = 1 << 20
SHORT: Final = TransportSettings(request_timeout=0.5)
SMALL: Final = TransportSettings(max_memory_untrusted=1 << 20)
"""Memory for 63 requests of 16 KiB."""


async def trusting(stream: EchoStream) -> None:
    """Answer each message with its size. Authenticate the stream at the first message."""
    while (received := await stream.receive()) is not None:
        stream.trust()
        await stream.send(Item(number=received.ByteSize()))


def services() -> tuple[Service, Service]:
    health = Service(health_pb2_grpc.add_HealthServicer_to_server, Health([], trio.Event()))
    return health, echo_service(trusting)


def attack(connection: Callable[[str], Any], settings: TransportSettings = TransportSettings()) -> Any:  # noqa: B008
    """Run a client that blocks its thread against a server with these settings. Return the client's result."""

    async def run() -> Any:
        async with serving(*services(), settings=settings) as address:
            return await in_thread(connection, address)

    return trio.run(run)


def status(code: grpc.StatusCode) -> int:
    return int(code.value[0])


def sized(size: int) -> bytes:
    """Return a message of a health check with its prefix. The message has this many bytes without the prefix."""
    name = "x" * (size - 3)
    content = health_pb2.HealthCheckRequest(service=name).SerializeToString()
    assert len(content) == size
    return message(content)


@pytest.mark.parametrize(
    "sent", [None, b"", EMPTY[:3], sized(16 * KIB)[:-1]], ids=["nothing", "empty", "3 B", "16 KiB"]
)
def test_a_unary_request_that_stays_incomplete_ends_with_a_reason(sent: bytes | None) -> None:
    def client(address: str) -> tuple[Answer, bool]:
        with RawConnection(address) as connection:
            stream = connection.open()
            if sent is not None:
                connection.data(stream, sent)
            return connection.outcome(stream), connection.is_alive()

    answer, alive = attack(client, SHORT)
    assert answer.status == status(grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert answer.headers["grpc-message"] == "the message was not complete within 0.5 s"
    assert alive


def test_a_message_of_a_stream_that_stays_incomplete_ends_it_also_when_it_is_trusted_and_drips() -> None:
    def client(address: str) -> Answer:
        with RawConnection(address) as connection:
            stream = connection.open(SAY)
            connection.data(stream, EMPTY)
            connection.until(lambda: connection.answers[stream].messages)
            connection.data(stream, message(bytes(1000))[:-1])
            connection.socket.settimeout(0.1)
            while not connection.answers[stream].over:
                try:
                    assert connection.receive()
                except TimeoutError:
                    connection.data(stream, b"")
            return connection.answers[stream]

    answer = attack(client, SHORT)
    assert answer.status == status(grpc.StatusCode.RESOURCE_EXHAUSTED)


@pytest.mark.parametrize(
    "beginning",
    [
        frame(Kind.DATA, 0, 1, b"some", length=1000),
        frame(Kind.HEADERS, END_HEADERS, 3, b"some", length=1000),
        frame(Kind.HEADERS, 0, 3, b"\x82"),
        b"\x00\x00",
    ],
    ids=["data", "headers", "headers to be continued", "3 B"],
)
def test_a_frame_that_stays_incomplete_ends_its_connection(beginning: bytes) -> None:
    """The peer answers pings, and another complete call prevents the connection from being idle."""

    def client(address: str) -> RawConnection:
        with RawConnection(address) as connection:
            connection.send(connection.opening(1, "/grpc.health.v1.Health/Watch"))
            connection.data(1, EMPTY)
            connection.until(lambda: connection.answers[1].messages)
            connection.send(beginning)
            connection.wait_closed()
            return connection

    assert attack(client, SHORT).goaway_code == CALM


def test_before_a_token_a_message_has_16_KiB_and_after_it_a_MiB() -> None:
    def client(address: str) -> list[tuple[int | None, str]]:
        with RawConnection(address) as connection:
            fits = connection.call(CHECK, sized(16 * KIB))
            larger = connection.call(CHECK, sized(16 * KIB + 1))
            stream = connection.open(SAY)
            connection.data(stream, EMPTY)
            connection.until(lambda: connection.answers[stream].messages)
            hello = Item(text="x" * 60_000).SerializeToString()
            connection.data(stream, message(hello), end=True)
            trusted = connection.outcome(stream)
            assert [Item.FromString(each).number for each in trusted.messages] == [0, len(hello)]
            return [(answer.status, answer.headers.get("grpc-message", "")) for answer in (fits, larger, trusted)]

    fits, larger, trusted = attack(client)
    assert fits[0] == status(grpc.StatusCode.NOT_FOUND)
    assert larger == (
        status(grpc.StatusCode.RESOURCE_EXHAUSTED),
        "a message has at most 16384 bytes in a call without a valid token, not 16385",
    )
    assert trusted[0] == 0


@pytest.mark.parametrize("trusted", [True, False])
def test_a_large_message_waits_within_its_window_until_the_token_is_checked(trusted: bool) -> None:
    """The bot may send before the server has checked its token. Only after the check does the
    server refuse a message that is too large for an unauthenticated peer.
    """
    checked = trio.Event()

    async def slow(stream: EchoStream) -> None:
        await checked.wait()
        if trusted:
            stream.trust()
        while (received := await stream.receive()) is not None:
            await stream.send(Item(number=received.ByteSize()))

    hello = Item(text="x" * 100_000).SerializeToString()

    def client(address: str) -> Answer:
        with RawConnection(address) as connection:
            stream = connection.open(SAY)
            connection.data(stream, message(hello)[:40_000])
            connection.settle()
            assert not connection.answers[stream].over
            assert connection.windows[stream] == DEFAULT_WINDOW, "no more is asked for yet"
            trio.from_thread.run_sync(checked.set)
            connection.windows[stream] -= 40_000
            connection.upload(stream, message(hello)[40_000:])
            return connection.outcome(stream)

    async def run() -> Answer:
        async with serving(echo_service(slow)) as address:
            return await in_thread(client, address)

    answer = trio.run(run)
    if trusted:
        assert [Item.FromString(each).number for each in answer.messages] == [len(hello)]
    else:
        assert answer.status == status(grpc.StatusCode.RESOURCE_EXHAUSTED)
        assert answer.headers["grpc-message"].startswith("a message has at most 16384 bytes in a call without a valid")


def test_who_hoards_is_evicted_and_others_are_served() -> None:
    """Open twice as many calls as the budget has memory for. The last calls are served, and the first are evicted."""

    def client(address: str) -> list[int | None]:
        with ExitStack() as stack:
            hoarders = [stack.enter_context(RawConnection(address)) for _ in range(16)]
            for connection in hoarders:
                for _ in range(8):
                    connection.data(connection.open(), sized(16 * KIB)[:-1])
            others = [stack.enter_context(RawConnection(address)) for _ in range(20)]
            for other in others:
                assert other.call().status == 0
            for connection in hoarders:
                connection.settle()
            return [connection.answers[stream].status for connection in hoarders for stream in range(1, 17, 2)]

    statuses = attack(client, SMALL)
    unavailable = status(grpc.StatusCode.UNAVAILABLE)
    assert set(statuses) == {None, unavailable}
    assert 64 < statuses.count(unavailable) < 80


def test_who_hoards_in_unfinished_frames_is_disconnected_and_others_are_served() -> None:
    def client(address: str) -> list[int | None]:
        with ExitStack() as stack:
            hoarders = [stack.enter_context(RawConnection(address)) for _ in range(100)]
            for connection in hoarders:
                connection.send(connection.opening(1), frame(Kind.DATA, 0, 1, bytes(16_000), length=16 * KIB))
            with RawConnection(address) as other:
                assert other.is_alive()
            while sum(connection.closed for connection in hoarders) < 30:
                is_open = {connection.socket: connection for connection in hoarders if not connection.closed}
                readable, _, _ = select.select(is_open, [], [], PATIENCE)
                assert readable
                for sock in readable:
                    is_open[sock].receive()
            return [connection.goaway_code for connection in hoarders if connection.closed]

    assert set(attack(client, SMALL)) == {CALM}


class Generous:
    """A service with one method, which answers with a MiB."""

    async def Get(self, _: object, __: Call) -> Item:
        return Item(text="x" * MIB)


def asking(address: str, initial_window: int) -> RawConnection:
    """Connect with windows of a given size and a small receive buffer."""
    host, _, port = address.rpartition(":")
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.settimeout(PATIENCE)
    narrow.connect((host, int(port)))
    connection = RawConnection(address, sock=narrow, auto_reply=False)
    connection.send(frame(Kind.SETTINGS, 0, 0, settings(initial_window_size=initial_window)), window(0, 1 << 30))
    return connection


@pytest.mark.parametrize("initial_window", [0, 1 << 30], ids=["in the server's windows", "in the system's buffers"])
def test_who_leaves_answers_unread_is_disconnected_and_others_are_served(initial_window: int) -> None:
    """The answers have 96 MiB in total. The budget is 8 MiB, and the system buffers at most 4 MiB per connection."""

    def client(address: str) -> int:
        with ExitStack() as stack:
            early = stack.enter_context(RawConnection(address))
            answer = early.open(GET)
            early.data(answer, EMPTY, end=True)
            hoarders = []
            for _ in range(12):
                hoarders.append(stack.enter_context(asking(address, initial_window)))
                for _ in range(8):
                    hoarders[-1].data(hoarders[-1].open(GET), EMPTY, end=True)
            assert early.outcome(answer).status == 0
            assert len(early.answers[answer].content) > MIB
            with RawConnection(address) as other:
                assert other.call(GET).status == 0
            closed = 0
            for hoarder in hoarders:
                hoarder.socket.settimeout(1.0)
                with suppress(TimeoutError):
                    closed += hoarder.wait_closed()
            return closed

    async def run() -> int:
        generous = service(Generous())
        async with serving(generous, settings=replace(SMALL, work_untrusted=10_000)) as address:
            return int(await in_thread(client, address))

    assert trio.run(run) > 6


def test_a_trusted_stream_is_not_evicted() -> None:
    def client(address: str) -> Answer:
        with RawConnection(address) as trusted, ExitStack() as stack:
            stream = trusted.open(SAY)
            trusted.data(stream, EMPTY)
            trusted.until(lambda: trusted.answers[stream].messages)
            large = message(Item(text="x" * 60_000).SerializeToString())
            trusted.data(stream, large[:50_000])
            for _ in range(16):
                connection = stack.enter_context(RawConnection(address))
                for _ in range(8):
                    connection.data(connection.open(), sized(16 * KIB)[:-1])
                assert connection.receive()
            trusted.data(stream, large[50_000:], end=True)
            return trusted.outcome(stream)

    answer = attack(client, SMALL)
    assert (answer.status, len(answer.messages)) == (0, 2)


def bombs(connection: RawConnection) -> None:
    content = message(gzip.compress(bytes(1 << 20)), flag=1)
    for _ in range(20):
        assert connection.call(CHECK, content, ("grpc-encoding", "gzip")).status == 8


def too_large(connection: RawConnection) -> None:
    for path in (CHECK, SAY):
        for _ in range(20):
            assert connection.call(path, message(b"x", length=1 << 24)).status == 8


def malformed(connection: RawConnection) -> None:
    for path in (CHECK, SAY):
        for _ in range(20):
            assert connection.call(path, message(b"\xff\xff")).status == 3


def refused(connection: RawConnection) -> None:
    for _ in range(20):
        assert connection.call(CHECK, sized(10_000)).status == 5


def unknown(connection: RawConnection) -> None:
    for _ in range(20):
        assert connection.call("/no.Service/Method", EMPTY, ("x-large", "x" * 3000)).status == 12


def large_headers(connection: RawConnection) -> None:
    for _ in range(20):
        assert connection.call(CHECK, EMPTY, ("x-large", "x" * 6000)).status == 8


def failed_and_reset(connection: RawConnection) -> None:
    for _ in range(20):
        stream = connection.stream()
        failing = frame(Kind.DATA, 0, stream, message(b"x", length=1 << 24))
        connection.send(connection.opening(stream) + failing + frame(Kind.RST_STREAM, 0, stream, bytes(4)))
    assert connection.is_alive()


def connections(connection: RawConnection) -> None:
    """Close connections in the middle of every kind of work."""
    host, port = connection.socket.getpeername()
    for _ in range(10):
        with RawConnection(f"{host}:{port}") as other:
            assert other.is_alive()
            other.data(other.open(), sized(16 * KIB)[:-1])
            other.open(SAY)
            other.send(frame(Kind.DATA, 0, 1, bytes(8000), length=10_000))
    assert connection.is_alive()


@contextmanager
def garbage() -> Iterator[list[object]]:
    """Yield the objects that the `with` block leaves in reference cycles, which only the garbage collector would
    free.
    """
    gc.collect()
    gc.disable()
    found: list[object] = []
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize(
    "attacker", [bombs, too_large, malformed, refused, unknown, large_headers, failed_and_reset, connections]
)
def test_what_is_refused_leaves_nothing_to_the_garbage_collector(attacker: Callable[[RawConnection], None]) -> None:
    def client(address: str) -> list[object]:
        with RawConnection(address) as connection:
            assert connection.is_alive()
            with garbage() as found:
                attacker(connection)
                assert connection.is_alive()
            return found

    kept = (CallRefused, GrpcStream, Connection, Http2Connection, H2Connection, bytearray)
    assert [each for each in attack(client) if isinstance(each, kept)] == []
