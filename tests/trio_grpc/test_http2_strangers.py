"""Clients that do not speak HTTP/2, or use no TLS where the server requires it. The server soon closes their
connections.
"""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.trio_grpc.loaded_server import LoadedServer, Server, server
from tests.trio_grpc.raw_http2 import EMPTY, END_STREAM, PATIENCE, PREFACE, Kind, RawConnection, frame

pytestmark = pytest.mark.process


def client_hello() -> bytes:
    """Return the ClientHello of a TLS client."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


STRANGE = {
    "HTTP/1.1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an upgrade": b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
    "TLS": client_hello(),
    "a wrong preface": PREFACE.replace(b"2.0", b"3.0") + frame(Kind.SETTINGS),
    "a preface with one wrong byte": PREFACE[:-1] + b"x" + frame(Kind.SETTINGS),
    "a line of text": b"hello\n",
    "a long line": b"x" * 100_000,
    "noise": Random(5).randbytes(5000),
    "headers before the settings": PREFACE + frame(Kind.HEADERS, 5, 1, b"\x82"),
    "a ping before the settings": PREFACE + frame(Kind.PING, 0, 0, bytes(8)),
    "an acknowledgement before the settings": PREFACE + frame(Kind.SETTINGS, 1),
    "settings on a stream": PREFACE + frame(Kind.SETTINGS, 0, 3),
}


@pytest.mark.parametrize("strange", STRANGE)
def test_input_that_is_not_http2_closes_its_connection(loaded_server: LoadedServer, strange: str) -> None:
    with RawConnection(loaded_server.address, preamble=STRANGE[strange]) as connection:
        assert connection.wait_closed()


@pytest.mark.parametrize("seed", range(40))
def test_noise_after_the_preface_ends_at_most_its_connection(connection: RawConnection, seed: int) -> None:
    chance = Random(seed)
    for _ in range(100):
        kind, stream = chance.randrange(11), chance.choice((0, 1, 1, 2, 3, 5, 2**31 - 1))
        connection.send(
            frame(kind, chance.randrange(256), stream, chance.randbytes(chance.choice((0, 4, 5, 6, 8, 20))))
        )
    connection.closed_or_alive()


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, ssl.SSLContext]]:
    """A server that requires TLS, and a client's TLS context that trusts its certificate."""
    folder: Path = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run([*command.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    trust = ssl.create_default_context(cafile=str(cert))
    with server(folder, cert, key) as running:
        yield running, trust


def tls_connection(running: Server, trust: ssl.SSLContext, protocols: list[str]) -> RawConnection:
    """Connect over TLS and offer these protocols by ALPN."""
    host, _, port = running.address.rpartition(":")
    if protocols:
        trust.set_alpn_protocols(protocols)
    plain = socket.create_connection((host, int(port)), timeout=PATIENCE)
    return RawConnection(running.address, sock=trust.wrap_socket(plain, server_hostname="localhost"))


def test_tls_agrees_on_h2(secure: tuple[Server, ssl.SSLContext]) -> None:
    with tls_connection(*secure, ["h2"]) as connection:
        assert isinstance(connection.socket, ssl.SSLSocket)
        assert connection.socket.selected_alpn_protocol() == "h2"
        assert connection.socket.version() in ("TLSv1.2", "TLSv1.3")
        assert connection.is_alive()


def test_tls_may_cut_bytes_anywhere(secure: tuple[Server, ssl.SSLContext]) -> None:
    with tls_connection(*secure, ["h2"]) as connection:
        text = connection.opening(1) + frame(Kind.DATA, END_STREAM, 1, EMPTY)
        for at in range(len(text)):
            connection.send(text[at : at + 1])
        assert connection.outcome(1).status == 0


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_outdated_versions_of_tls_are_refused(secure: tuple[Server, ssl.SSLContext]) -> None:
    host, _, port = secure[0].address.rpartition(":")
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    plain = socket.create_connection((host, int(port)), timeout=PATIENCE)
    with plain, pytest.raises((ssl.SSLError, ConnectionError)):
        old.wrap_socket(plain)


@pytest.mark.parametrize(
    "words",
    [b"", PREFACE + frame(Kind.SETTINGS), client_hello()[:50], client_hello(), b"\x16\x03\x01" + b"\xff" * 100],
    ids=["nothing", "no TLS", "half a hello", "no answer to the server's hello", "noise"],
)
def test_who_makes_no_handshake_is_closed_and_others_served(
    secure: tuple[Server, ssl.SSLContext], words: bytes
) -> None:
    with RawConnection(secure[0].address, preamble=words) as connection, tls_connection(*secure, ["h2"]) as other:
        assert other.is_alive()
        while connection.socket.recv(65536):
            pass
        assert other.is_alive()


def test_a_connection_closed_without_close_notify_does_no_harm(secure: tuple[Server, ssl.SSLContext]) -> None:
    for _ in range(50):
        connection = tls_connection(*secure, ["h2"])
        connection.open()
        socket.socket(fileno=connection.socket.detach()).close()
    with tls_connection(*secure, ["h2"]) as other:
        assert other.is_alive()
    assert "Traceback" not in secure[0].log
