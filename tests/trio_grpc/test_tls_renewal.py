"""Renewal of a certificate while a server runs, with real files, real handshakes and virtual time."""

from __future__ import annotations

import ssl
from pathlib import Path
from subprocess import run

import pytest
import trio
from trio.testing import MockClock

from trio_grpc.http2.tls import HTTP2, LOOKS_EVERY, Tls, load_credentials, renew

pytestmark = pytest.mark.process


def certify(folder: Path, name: str) -> tuple[bytes, bytes]:
    """Create a new certificate and its key."""
    key, certificate = folder / "new-key.pem", folder / "new-certificate.pem"
    command = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name}"
    run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate.read_bytes(), key.read_bytes()


def shown(credentials: ssl.SSLContext) -> bytes:
    """Return the certificate that the server presents on a new connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([HTTP2])
    received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = context.wrap_bio(received, to_send), Tls(credentials)
    for _ in range(4):
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            server.decrypt(to_send.read())
            received.write(server.encrypt(b""))
    certificate = client.getpeercert(binary_form=True)
    assert certificate is not None
    return ssl.DER_cert_to_PEM_cert(certificate).encode()


async def test_new_connections_get_a_renewed_certificate_once_it_has_its_key(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    (old, old_key), (new, new_key) = certify(tmp_path, "old"), certify(tmp_path, "new")
    certificate.write_bytes(old)
    key.write_bytes(old_key)
    credentials = load_credentials(certificate, key)
    results: list[ssl.SSLError | OSError | None] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(renew, credentials, certificate, key, results.append)
        await trio.sleep(LOOKS_EVERY * 3.5)
        assert results == []
        certificate.write_bytes(new)
        await trio.sleep(LOOKS_EVERY * 3)
        (error,) = results
        assert isinstance(error, ssl.SSLError)
        assert error.reason == "KEY_VALUES_MISMATCH"
        assert shown(credentials) == old
        key.write_bytes(new_key)
        await trio.sleep(LOOKS_EVERY)
        assert results[1:] == [None]
        assert shown(credentials) == new
        key.unlink()
        await trio.sleep(LOOKS_EVERY)
        assert isinstance(results[2], FileNotFoundError)
        assert shown(credentials) == new
        nursery.cancel_scope.cancel()
