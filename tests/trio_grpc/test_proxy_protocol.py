"""Connections through proxies and Unix sockets. The client's address counts, and only trusted proxies may state it."""

from __future__ import annotations

import socket
import stat
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import thread_time
from typing import Any, Final

import grpc
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.trio_grpc.echo import GET, EchoStream, Item, service
from tests.trio_grpc.grpc_rig import PATIENCE, echo_service, in_thread, numbers, refusal, serving, stub_at
from tests.trio_grpc.raw_http2 import EMPTY, PREFACE, Kind, RawConnection, frame
from trio_grpc.grpc.call import Call
from trio_grpc.grpc.server import serve
from trio_grpc.http2.proxy_protocol import MOST, ProxyHeader, among, networks, parse_header
from trio_grpc.http2.sockets import LONGEST_UNIX_PATH
from trio_grpc.limits.connection_limits import UNIX, origin_of_peer
from trio_grpc.limits.settings import TransportSettings

SIGNATURE: Final = b"\r\n\r\n\0\r\nQUIT\n"
V1: Final = b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"
GREETING: Final = PREFACE + frame(Kind.SETTINGS)


def v2(command: int, family: int, content: bytes) -> bytes:
    return SIGNATURE + struct.pack("!BBH", command, family, len(content)) + content


def v2_of(host: str, port: int, more: bytes = b"") -> bytes:
    kind, family = (socket.AF_INET6, 0x21) if ":" in host else (socket.AF_INET, 0x11)
    packed = socket.inet_pton(kind, host)
    return v2(0x21, family, packed + packed + struct.pack("!HH", port, 443) + more)


V6: Final = ("2001:db8::9", 4711, 0, 0)
HEADERS: Final = {
    V1: ("192.0.2.7", 4711),
    b"PROXY TCP6 2001:DB8::9 ::1 4711 443\r\n": V6,
    b"PROXY UNKNOWN\r\n": None,
    b"PROXY UNKNOWN what ever 1 2\r\n": None,
    v2_of("192.0.2.7", 4711): ("192.0.2.7", 4711),
    v2_of("2001:db8::9", 4711, more=b"\x04\x00\x03abc"): V6,
    v2(0x20, 0x00, b""): None,
    v2(0x20, 0x11, bytes(12)): None,
    v2(0x21, 0x31, bytes(216)): None,
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_tells_whose_a_connection_is(header: bytes) -> None:
    for end in range(len(header)):
        assert parse_header(header[:end]) is None, "there is more to come"
    assert parse_header(header) == parse_header(header + GREETING) == ProxyHeader(len(header), HEADERS[header])


@pytest.mark.parametrize(
    "received",
    [
        GREETING,
        b"\x16\x03\x01",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 4711\r\n",
        b"PROXY TCP4 192.0.2.700 198.51.100.1 4711 443\r\n",
        b"PROXY TCP4 2001:db8::9 ::1 4711 443\r\n",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 65536 443\r\n",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 -1 443\r\n",
        b"PROXY UDP4 192.0.2.7 198.51.100.1 4711 443\r\n",
        b"PROXY " + b"x" * 107,
        v2(0x22, 0x11, bytes(12)),
        v2(0x31, 0x11, bytes(12)),
        v2(0x21, 0x11, bytes(11)),
        v2(0x21, 0x21, bytes(35)),
        v2(0x21, 0x11, bytes(MOST)),
    ],
)
def test_what_is_no_header_is_refused(received: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_header(received)


@given(st.sampled_from([b"", b"PROXY ", b"PROXY TCP6 ", SIGNATURE, SIGNATURE + b"\x21\x11"]), st.binary(max_size=200))
def test_whatever_comes_is_a_header_incomplete_or_none(beginning: bytes, more: bytes) -> None:
    try:
        header = parse_header(beginning + more)
    except ValueError:
        return
    assert header is None or header.length <= len(beginning + more)


def test_proxies_are_addresses_and_networks() -> None:
    proxies = networks("10.0.0.0/8, 192.0.2.1,2001:db8::/32")
    assert [
        host for host in ("10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1", "2001:db8::5") if not among(host, proxies)
    ] == []
    assert [host for host in ("11.0.0.1", "192.0.2.2", "::1", "fe80::1%eth0") if among(host, proxies)] == []


def test_peers_of_unix_sockets_are_one() -> None:
    assert origin_of_peer("unix:") == UNIX


# --- over sockets ---

over_sockets = pytest.mark.process


async def tell_peer(stream: EchoStream) -> None:
    """Answer each caller with its own address."""
    while await stream.receive() is not None:
        await stream.send(Item(text=stream.peer))


class Dear:
    """A service with one method, which takes half a second of processor time."""

    async def Get(self, _: object, __: Call) -> Item:
        end = thread_time() + 0.5
        while thread_time() < end:
            pass
        return Item()


@asynccontextmanager
async def behind(proxies: str | None = "127.0.0.0/8", **settings: Any) -> AsyncIterator[str]:
    dear = service(Dear())
    async with serving(
        echo_service(tell_peer), dear, settings=TransportSettings(proxies=proxies, **settings)
    ) as address:
        yield address


@contextmanager
def proxy(address: str, header: Callable[[], bytes]) -> Iterator[str]:
    """Run a proxy that begins each connection with a header sent in two pieces. Yield its address."""

    def forward(source: socket.socket, to: socket.socket) -> None:
        try:
            while content := source.recv(1 << 16):
                to.sendall(content)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def accept() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            content = header()
            upstream = sending(address, content[:20])
            upstream.sendall(content[20:])
            sockets.extend((client, upstream))
            for one, other in ((client, upstream), (upstream, client)):
                threading.Thread(target=forward, args=(one, other), daemon=True).start()

    sockets: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for each in sockets:
                each.close()


def sending(address: str, content: bytes) -> socket.socket:
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    connection.sendall(content)
    return connection


def is_told_something(connection: socket.socket) -> bool:
    """Return True if the server sends anything before it closes the connection."""
    try:
        return bool(connection.recv(1))
    except ConnectionResetError:
        return False


def peer_of(address: str) -> str:
    with stub_at(address) as stub:
        (answer,) = stub.Say(numbers(1), timeout=PATIENCE)
        return str(answer.text)


@over_sockets
@pytest.mark.parametrize(
    ("header", "peer"),
    [
        (V1, "ipv4:192.0.2.7:4711"),
        (v2_of("192.0.2.7", 4711), "ipv4:192.0.2.7:4711"),
        (v2_of("2001:db8::9", 4711), "ipv6:[2001:db8::9]:4711"),
        (b"PROXY UNKNOWN\r\n", "ipv4:127.0.0.1:"),
    ],
)
async def test_a_call_through_a_proxy_is_of_the_peer_that_it_tells(header: bytes, peer: str) -> None:
    def call(address: str) -> None:
        with proxy(address, lambda: header) as through:
            assert peer_of(through).startswith(peer)

    async with behind() as address:
        await in_thread(call, address)


@over_sockets
async def test_behind_a_proxy_everybody_has_a_budget_of_his_own() -> None:
    def flood(address: str) -> None:
        def connect(host: str) -> RawConnection:
            return RawConnection(address, sock=sending(address, v2_of(host, 4711)))

        with connect("192.0.2.7") as spending:
            assert spending.call(GET, EMPTY).status == 0
        with connect("192.0.2.7") as in_debt, connect("192.0.2.8") as other:
            stream = in_debt.open(GET)
            in_debt.upload(stream, EMPTY)
            assert other.call(GET, EMPTY).status == 0
            in_debt.receive()
            assert not in_debt.answers, "it waits for 20 s"

    # A tenth of a second is available: enough for a connection on a busy machine, too little for a call.
    async with behind(work_untrusted=1.0) as address:
        await in_thread(flood, address)


@over_sockets
async def test_who_is_no_named_proxy_tells_nothing_and_who_is_must() -> None:
    def tell(unnamed: str) -> None:
        with RawConnection(unnamed, preamble=V1 + GREETING) as connection:
            assert connection.wait_closed()
        assert peer_of(unnamed).startswith("ipv4:127.0.0.1:")

    def keep_silent(named: str) -> None:
        for content in (b"", V1[:-1], GREETING):
            with sending(named, content) as connection:
                assert not is_told_something(connection), f"after {content!r}"
        assert refusal(lambda: peer_of(named))[0] is grpc.StatusCode.UNAVAILABLE

    async with behind(None) as address:
        await in_thread(tell, address)
    async with behind(handshake_timeout=0.5) as address:
        await in_thread(keep_silent, address)


@over_sockets
async def test_connections_whose_header_is_awaited_count_in_all() -> None:
    def crowd(address: str) -> None:
        silent = [sending(address, b"") for _ in range(2)]
        with sending(address, V1 + GREETING) as third:
            assert not is_told_something(third)
        silent[0].sendall(V1 + GREETING)
        assert is_told_something(silent[0])
        for each in silent:
            each.close()

    async with behind(connections=2, handshake_timeout=60.0) as address:
        await in_thread(crowd, address)


@over_sockets
async def test_connections_of_one_address_behind_a_proxy_are_counted() -> None:
    def crowd(address: str) -> None:
        connections = [sending(address, V1 + GREETING) for _ in range(3)]
        assert [is_told_something(each) for each in connections] == [True, True, False]
        with sending(address, v2_of("192.0.2.8", 1) + GREETING) as other:
            assert is_told_something(other)
        for each in connections:
            each.close()

    async with behind(connections_per_address=2) as address:
        await in_thread(crowd, address)


@pytest.mark.parametrize(
    ("proxies", "why"), [("10.0.0.1/8", "host bits"), ("proxy.example", "does not appear"), (",", "")]
)
async def test_proxies_that_are_no_addresses_are_refused(proxies: str, why: str) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match=f"^proxies: .*{why}")):
        async with behind(proxies):
            pass


@over_sockets
async def test_a_unix_socket_is_listened_at_too_and_is_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "server.sock"
    with socket.socket(socket.AF_UNIX) as left_over:
        left_over.bind(str(path))
    async with behind(None, unix_socket=path) as address:
        assert await in_thread(peer_of, f"unix:{path}") == "unix:"
        assert (await in_thread(peer_of, address)).startswith("ipv4:")
        with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="another server listens there")):
            async with behind(None, unix_socket=path):
                pass
        assert await in_thread(peer_of, f"unix:{path}") == "unix:"
    assert not path.exists()


@over_sockets
async def test_a_path_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match=f"cannot listen at unix:{path}: .*in use")):
        async with behind(None, unix_socket=path):
            pass
    assert path.read_text() == "mine"


@over_sockets
async def test_a_unix_socket_is_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "server.sock"
    async with behind(None, unix_socket=path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@over_sockets
async def test_an_over_long_path_of_a_socket_is_named_with_the_most_that_there_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 108)
    why = rf"cannot listen at unix:{path}: a path of {len(str(path))} bytes; {LONGEST_UNIX_PATH} is the most"
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match=why)):
        async with behind(None, unix_socket=path):
            pass


@over_sockets
async def test_a_socket_that_is_another_servers_by_now_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "server.sock"
    async with behind(None, unix_socket=path):
        path.rename(tmp_path / "away")
        with socket.socket(socket.AF_UNIX) as others:
            others.bind(str(path))
    assert path.is_socket()


@over_sockets
async def test_a_server_may_listen_at_a_unix_socket_alone(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'server.sock'}"
    async with trio.open_nursery() as nursery:
        assert await nursery.start(serve, [echo_service(tell_peer)], address) == 0
        assert await in_thread(peer_of, address) == "unix:"
        nursery.cancel_scope.cancel()
