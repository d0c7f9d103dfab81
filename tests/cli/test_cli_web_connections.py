"""Connections to the pages. A fault ends only its own connection, and the server closes connections beyond the
limit.
"""

from __future__ import annotations

import json
import socket
import struct
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.web.playing.play_socket import MOST_SOCKETS
from arena.web.requests.connections import MOST_OF_ADDRESS, SECOND_FILES, Connections
from tests.cli.cli_rig import PATIENCE
from tests.cli.test_cli_serve_web import serving
from tests.cli.web_process_rig import ask, browsing
from tests.cli.web_socket import Refusal, Socket
from tests.waiting import until
from trio_grpc.http2.proxy_protocol import networks

FILES = 320
MOMENT = 0.25
"""Seconds without data after which a connection counts as silent."""
REQUEST = b"GET %s HTTP/1.1\r\nhost: 127.0.0.1\r\n%s\r\n"
UPGRADE = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
KEY = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
OPENED = REQUEST % (b"/play", UPGRADE + KEY)
H2C = b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: "
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    """Return an HTTP/2 frame."""
    return len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


SETTINGS = frame(4, 0, 0, b"")
CHUNKED = b"transfer-encoding: chunked\r\n"
GET = b"\x82\x86\x84\x41\x01a"
"""HTTP/2 headers that request the first page."""
WRONG = {
    "subprotocols": REQUEST % (b"/play", UPGRADE + KEY + b"sec-websocket-protocol: \xff\r\n"),
    "extensions": REQUEST % (b"/play", UPGRADE + KEY + b"sec-websocket-extensions: \xff\r\n"),
    "key": REQUEST % (b"/play", UPGRADE + b"sec-websocket-key: \xff\r\n"),
    "connection": REQUEST % (b"/play", KEY + UPGRADE.replace(b"upgrade\r", b"\xff, upgrade\r")),
    "upgrade": REQUEST % (b"/play", KEY + UPGRADE.replace(b"websocket\r", b"\xff\r")),
    "settings that are no text": REQUEST % (b"/", H2C + b"\xff\r\n"),
    "settings that are no base64": REQUEST % (b"/", H2C + b"a\r\n"),
    "settings that are none": REQUEST % (b"/", H2C + b"AAAA\r\n"),
    "unmasked frame": OPENED + b"\x81\x01a",
    "reserved bits": OPENED + b"\xf1\x80\0\0\0\0",
    "unknown frame": OPENED + b"\x83\x80\0\0\0\0",
    "text that is none": OPENED + b"\x81\x81\0\0\0\0\xff",
    "long ping": OPENED + b"\x89\xfe\x01\x00\0\0\0\0" + bytes(256),
    "close in one byte": OPENED + b"\x88\x81\0\0\0\0\x03",
    "close with no code": OPENED + b"\x88\x82\0\0\0\0" + struct.pack(">H", 5),
    "close with no text": OPENED + b"\x88\x83\0\0\0\0" + struct.pack(">H", 1000) + b"\xff",
    "continued nothing": OPENED + b"\x80\x80\0\0\0\0",
    "length beyond all": OPENED + b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0",
    "HTTP/2 without settings": PREFACE + frame(0, 0, 1, b"x"),
    "HTTP/2 on stream 0": PREFACE + SETTINGS + frame(1, 5, 0, b"\x82"),
    "HTTP/2 with bad headers": PREFACE + SETTINGS + frame(1, 5, 1, b"\xff\xff\xff\xff\xff"),
    "HTTP/2 without path": PREFACE + SETTINGS + frame(1, 5, 1, b"\x82"),
    "HTTP/2 with a path that is none": PREFACE + SETTINGS + frame(1, 5, 1, b"\x82\x86\x41\x01a\x04\x03/\xff\xff"),
    "HTTP/2 window beyond all": PREFACE + SETTINGS + frame(8, 0, 0, b"\x7f\xff\xff\xff") * 2,
    "HTTP/2 many streams": PREFACE
    + SETTINGS
    + b"".join(frame(1, 5, stream, GET) + frame(3, 0, stream, bytes(4)) for stream in range(1, 999, 2)),
    "HTTP/2 WebSocket": PREFACE
    + SETTINGS
    + frame(1, 4, 1, b"\x42\x07CONNECT\x86\x41\x01a\x04\x05/play\x00\x09:protocol\x09websocket"),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    "two lengths": REQUEST % (b"/", b"content-length: 1\r\ncontent-length: 2\r\n"),
    "bad chunk": REQUEST.replace(b"GET", b"POST") % (b"/matches/9/analysis", CHUNKED) + b"zz\r\n",
    "no end": b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 100_000,
}
"""Invalid input of a connection, by the name of the fault."""


def say(place: tuple[str, int], sent: bytes) -> None:
    """Send bytes. Read until the server ends the connection or sends nothing for a moment."""
    with closing(socket.create_connection(place, PATIENCE)) as connection:
        connection.settimeout(MOMENT)
        try:
            connection.sendall(sent)
            while connection.recv(1 << 16):
                pass
        except (TimeoutError, ConnectionError):
            pass


def test_what_is_wrong_with_a_connection_ends_that_one_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-house") as server:
        place = (server.host, server.port)
        viewer = HTTPConnection(*place, timeout=PATIENCE)
        viewer.request("GET", "/live/events/status")
        answer = viewer.getresponse()
        before = server.beside
        for what, sent in WRONG.items():
            say(place, sent)
            assert server.get("/write-a-bot")[0].status == 200, what
            answer.readline()  # meanwhile another client reads
        assert server.beside == before
        viewer.close()
        failed = [line for line in server.log.splitlines() if "failed" in line]
        assert len(failed) <= 1, "a minute"
        assert "Traceback" not in server.log.replace(failed[0] if failed else "", "")


def test_more_connections_than_files_are_closed_and_the_pages_go_on(empty: Path) -> None:
    log: list[str] = []
    with browsing("--data", str(empty), files=FILES, log=log) as place:
        with closing(HTTPConnection(*place, timeout=PATIENCE)) as first, ExitStack() as sockets:
            first.request("GET", "/live/events/matches")
            answer = first.getresponse()
            for _ in range(2 * FILES):
                sockets.enter_context(closing(socket.create_connection(place, PATIENCE)))
            answer.readline()
        until(lambda: served(place), "the ended connections to count no more")
    assert [json.loads(line)["event"] for line in log if "viewers" not in line] == ["connections rejected"]


def served(place: tuple[str, int]) -> bool:
    """Return whether a page arrives. A rejected connection gets no answer."""
    try:
        return ask(place, "/matches")[0].status == 200
    except ConnectionError:
        return False


def test_a_connection_that_its_reader_has_ended_counts_no_more(empty: Path) -> None:
    with browsing("--data", str(empty), files=FILES, log=[]) as place:
        for _ in range(2 * FILES):
            assert ask(place, "/write-a-bot")[0].status == 200


def test_where_few_files_may_be_open_few_bots_play_in_pages(tmp_path: Path) -> None:
    """Each bot also has a connection to the server."""
    most = FILES // SECOND_FILES
    assert most < MOST_SOCKETS
    with serving(tmp_path / "data", "--no-house", files=FILES) as server, ExitStack() as sockets:
        for _ in range(most):
            sockets.enter_context(Socket(server.host, server.port))
        with pytest.raises(Refusal) as refused:
            Socket(server.host, server.port)
        assert refused.value.status == 503
        assert f"{most} are open" in refused.value.problem["detail"]
        assert server.get("/matches")[0].status == 200


async def test_one_address_has_so_many_connections_and_a_named_proxy_any_number() -> None:
    connections = Connections(networks("10.0.0.0/8"))
    running = 0

    async def run() -> None:
        nonlocal running
        running += 1
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        for host, most in (
            ("192.0.2.1", MOST_OF_ADDRESS),
            ("2001:db8::1", MOST_OF_ADDRESS),
            ("10.0.0.1", 2 * MOST_OF_ADDRESS),
            ("::ffff:10.0.0.1", 2 * MOST_OF_ADDRESS),
            ("127.0.0.1", 2 * MOST_OF_ADDRESS),
        ):
            running = 0
            for _ in range(2 * MOST_OF_ADDRESS):
                nursery.start_soon(connections.serve, host, run)
            await trio.testing.wait_all_tasks_blocked()
            assert running == most, host
        nursery.cancel_scope.cancel()
    await connections.serve("192.0.2.1", trio.lowlevel.checkpoint)
