"""Faults in the server's own code on one connection, over real sockets. The server logs them, and only that connection
ends.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from subprocess import run
from typing import Any, Final

import pytest
import structlog
import trio
import trio.testing

from tests.trio_grpc.echo import SAY, EchoStream
from tests.trio_grpc.grpc_rig import PATIENCE, echo_service, in_thread, serving
from tests.trio_grpc.raw_http2 import CHECK, EMPTY, RawConnection, message
from trio_grpc.grpc.grpc_stream import GrpcStream
from trio_grpc.http2.connection import Connection
from trio_grpc.http2.http2 import Http2Connection
from trio_grpc.http2.http2_stream import Headers, Http2Stream
from trio_grpc.http2.listener import CHECK_INTERVAL, Listener
from trio_grpc.http2.tls import load_credentials
from trio_grpc.limits.connection_limits import LOOPBACK
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

RESPONSE: Final[Headers] = [(b":status", b"200")]
TRAILERS: Final[Headers] = [(b"grpc-status", b"0")]
STEPS: Final = ("accept_request", "on_open", "on_data", "on_end", "on_sent", "on_lost", "check_timeouts")
Line = MutableMapping[str, Any]


class Faulty(Http2Stream):
    """A stream that answers a request with one byte and fails in one of its methods."""

    def __init__(self, connection: Http2Connection, stream_id: int, step: str, lost: list[int]) -> None:
        super().__init__(connection, stream_id)
        self._step = step
        self._lost = lost
        self._may_fail("accept_request")

    def on_open(self) -> None:
        self.open(RESPONSE)
        self._may_fail("on_open")

    def on_data(self, data: bytes) -> None:
        self.write(b"x")
        self._may_fail("on_data")

    def on_end(self) -> None:
        self._may_fail("on_end")
        self.end(TRAILERS)

    def on_sent(self) -> None:
        self._may_fail("on_sent")

    def on_lost(self) -> None:
        self._lost.append(self.stream_id)
        self._may_fail("on_lost")

    def check_timeouts(self, now: float, linger: float) -> None:
        super().check_timeouts(now, linger)
        self._may_fail("check_timeouts")

    def _may_fail(self, step: str) -> None:
        if self._step == step:
            raise RuntimeError(f"a fault in {step}")


@asynccontextmanager
async def listening(
    accept_request: Callable[..., Http2Stream | None] = lambda *_: None,
    settings: TransportSettings = TransportSettings(),  # noqa: B008 - frozen
    credentials: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[Listener, str]]:
    """Run a listener during the `with` block and yield it with its address. It must neither fail nor run too long."""
    listener = Listener("127.0.0.1:0", settings, credentials)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listener.run, accept_request)
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(PATIENCE):
            yield listener, f"127.0.0.1:{listener.port}"
        nursery.cancel_scope.cancel()
    listener.finish()


def failures(said: list[Line]) -> list[str]:
    """Return the logged tracebacks of failed connections. Fail for any other logged error."""
    errors = [line for line in said if line["log_level"] == "error"]
    assert {line["event"] for line in errors} <= {"a connection failed"}
    return [str(line["traceback"]) for line in errors]


@pytest.mark.sources_only("its streams are of a subclass")
@pytest.mark.parametrize("step", STEPS)
async def test_a_fault_in_a_step_of_one_stream_ends_its_connection_and_no_other(step: str) -> None:
    lost: list[int] = []

    def accept_request(_: Connection, http2: Http2Connection, stream_id: int, headers: Headers) -> Http2Stream:
        path = dict(headers)[b":path"].decode()
        return Faulty(http2, stream_id, path, lost)

    def client(address: str) -> bool:
        with RawConnection(address) as faulty, RawConnection(address) as other:
            faulty.open("/no.fault")
            faulty.settle()
            stream = faulty.open(step)
            faulty.data(stream, EMPTY, end=step == "on_end")
            faulty.open("/no.fault")
            if step == "on_lost":
                faulty.socket.close()
            else:
                assert faulty.wait_closed()
            return other.is_alive()

    with structlog.testing.capture_logs() as said:
        async with listening(accept_request) as (listener, address):
            assert await in_thread(client, address)
            while listener.connections:
                await trio.sleep(0.01)
            (trace,) = failures(said)
            assert trace.startswith("Traceback")
            assert f"RuntimeError: a fault in {step}" in trace
            assert 1 in lost, "the other streams learn of the end"
            assert lost == [1, 3, 5] or step != "on_lost"


async def is_served(listener: Listener, address: str) -> None:
    """Fail unless the server still serves a new connection and has no other connection."""

    def client() -> bool:
        with RawConnection(address) as other:
            other.settle()
            return not other.closed and len(listener.connections) == 1

    assert await in_thread(client)


@pytest.mark.sources_only("it replaces a method")
@pytest.mark.parametrize("resumed", [False, True], ids=["at its beginning", "after a pause"])
async def test_a_connection_that_the_system_does_not_watch_is_closed(
    resumed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening() as (listener, address):
        set_interest, refusing = listener.set_interest, not resumed

        def refuse_once(connection: Connection, *, reading: bool, writing: bool) -> None:
            nonlocal refusing
            if refusing and reading:
                monkeypatch.undo()
                raise OSError(errno.ENOSPC, "no more sockets can be watched")
            refusing = refusing or not reading
            set_interest(connection, reading=reading, writing=writing)

        monkeypatch.setattr(listener, "set_interest", refuse_once)
        with structlog.testing.capture_logs() as said, await in_thread(RawConnection, address) as refused:
            if resumed:
                await in_thread(refused.settle)
                listener.work.charge(LOOPBACK, 1000.0, listener.now)
                refused.ping()
                while not refusing:
                    await trio.sleep(0.01)
                listener.work.charge(LOOPBACK, -1000.0, listener.now)
            assert await in_thread(refused.wait_closed)
        (trace,) = failures(said)
        assert "no more sockets can be watched" in trace
        await is_served(listener, address)


@pytest.mark.sources_only("it replaces a method")
async def test_a_fault_while_a_peer_is_disconnected_for_its_memory_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault in disconnect")

    async with listening() as (listener, address):
        with structlog.testing.capture_logs() as said, await in_thread(RawConnection, address) as faulty:
            await in_thread(faulty.settle)
            (connection,) = listener.connections
            monkeypatch.setattr(connection.http2, "disconnect", fail)
            connection.evict()
            assert await in_thread(faulty.wait_closed)
        (trace,) = failures(said)
        assert "a fault in disconnect" in trace
        await is_served(listener, address)


# --- calls ---


async def answer(stream: EchoStream) -> None:
    """Wait for the end of the requests."""
    while await stream.receive() is not None:
        pass


@pytest.mark.sources_only("it replaces a method")
@pytest.mark.parametrize("by", ["its handler", "its deadline", "others who need its memory"])
async def test_a_fault_while_a_call_is_ended_ends_its_connection_and_no_other(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = GrpcStream.end

    def fail(self: GrpcStream, trailers: Headers) -> None:
        if "x-fault" in self.metadata:
            raise RuntimeError("a fault in end")
        end(self, trailers)

    monkeypatch.setattr(GrpcStream, "end", fail)

    def client(address: str) -> bool:
        with RawConnection(address) as faulty, RawConnection(address) as other:
            faulty.open(SAY, ("x-fault", "1"), *([("grpc-timeout", "10m")] if by == "its deadline" else []))
            if by == "its handler":
                faulty.data(1, EMPTY, end=True)
            elif by == "others who need its memory":
                faulty.data(1, message(bytes(3000))[:-1])
                faulty.settle()
                other.open(SAY)
                other.data(1, message(bytes(2000))[:-1])
            assert faulty.wait_closed()
            stream = other.open(SAY)
            other.data(stream, b"", end=True)
            return other.outcome(stream).status == 0

    with structlog.testing.capture_logs() as said:
        async with serving(echo_service(answer), settings=TransportSettings(max_memory_untrusted=4000)) as address:
            assert await in_thread(client, address)
    (trace,) = failures(said)
    assert "a fault in end" in trace


# --- TLS ---


@pytest.mark.sources_only("its streams are of a subclass")
async def test_a_broken_record_that_comes_when_there_is_something_to_send_ends_its_connection(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    trust.set_alpn_protocols(["h2"])
    streams: list[Http2Stream] = []

    def accept_request(_: Connection, http2: Http2Connection, stream_id: int, __: Headers) -> Http2Stream:
        streams.append(Faulty(http2, stream_id, "", []))
        return streams[-1]

    async with listening(accept_request, credentials=load_credentials(certificate, key)) as (listener, address):

        def connect() -> RawConnection:
            host, _, port = address.rpartition(":")
            plain = socket.create_connection((host, int(port)), timeout=PATIENCE)
            connection = RawConnection(address, sock=trust.wrap_socket(plain))
            connection.open(CHECK)
            connection.settle()
            return connection

        with structlog.testing.capture_logs() as said, await in_thread(connect) as broken:
            os.write(broken.socket.fileno(), b"\x17\x03\x03\x00\x20" + bytes(32))
            listener.run_next_turn(partial(streams[0].write, b"x"))
            while listener.connections:
                await trio.sleep(0.01)
            with await in_thread(connect) as other:
                assert not other.closed
        assert failures(said) == []


# --- connections in a handshake, and after the listener has closed ---


@pytest.mark.sources_only("it replaces a constant")
async def test_a_header_of_a_proxy_that_comes_as_its_time_is_over_is_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trio_grpc.http2.listener.CHECK_INTERVAL", 0.02)
    limits = TransportSettings(proxies="127.0.0.0/8", handshake_timeout=0.05)
    async with listening(settings=limits) as (listener, address):
        host, _, port = address.rpartition(":")
        for _ in range(20):
            with socket.create_connection((host, int(port)), timeout=PATIENCE) as late:
                await trio.sleep(0.01)
                late.sendall(b"PROXY ")
                time.sleep(0.1)  # the server notices the header and its timeout in the same turn
                await trio.sleep(0.05)
                late.setblocking(False)
                with suppress(ConnectionResetError):  # the server has not read the late bytes
                    assert late.recv(1) == b""
        assert not listener.connections


async def test_a_listener_that_has_paused_for_want_of_files_may_be_closed() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with listening() as (listener, address):
        host, _, port = address.rpartition(":")
        with socket.socket() as waiting, structlog.testing.capture_logs() as said:
            resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(0), hard))
            try:
                waiting.connect((host, int(port)))
                while not said:
                    await trio.sleep(0.01)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            listener.close()
            await trio.sleep(2.5 * CHECK_INTERVAL)
        assert [line["event"] for line in said] == ["no more connections can be accepted"]
