"""TLS without a socket: it decrypts received bytes and encrypts outgoing data."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

import trio

HTTP2 = "h2"
"""Protocol on which client and server must agree (ALPN, RFC 9113 section 3.2)."""

LOOKS_EVERY: Final = 60.0
"""Number of seconds between two checks of the PEM files."""


class TlsError(Exception):
    """The peer does not speak TLS, violates it, or does not offer HTTP/2."""


def load_credentials(certificate: Path, key: Path) -> ssl.SSLContext:
    """Load a server's credentials from PEM files.

    Raises ssl.SSLError if they are invalid or do not match, OSError if one cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Without this argument, OpenSSL would ask for the key's password on the terminal.
    context.load_cert_chain(certificate, key, password="")
    context.set_alpn_protocols([HTTP2])
    return context


async def renew(
    credentials: ssl.SSLContext, certificate: Path, key: Path, done: Callable[[ssl.SSLError | OSError | None], None]
) -> None:
    """Check the PEM files of loaded credentials once a minute, forever, and reload them after a change.

    New connections get the new certificate. If certificate and key do not match, the old certificate stays in use until
    the files change again. `done` is called after each change, with an error if the reload failed.
    """

    def state() -> tuple[tuple[int, int, int], ...]:
        found = (path.stat() for path in (certificate, key))
        return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in found)

    seen = state()
    while True:
        await trio.sleep(LOOKS_EVERY)
        try:
            if (now := state()) == seen:
                continue
            seen = now
            # Load them into a separate context first, because a failure would leave the change half done.
            load_credentials(certificate, key)
            credentials.load_cert_chain(certificate, key, password="")
        except (ssl.SSLError, OSError) as error:
            done(error)
        else:
            done(None)


class Tls:
    """The server's end of one TLS session."""

    def __init__(self, credentials: ssl.SSLContext) -> None:
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = credentials.wrap_bio(self._received, self._to_send, server_side=True)
        self.handshake_done = False
        """True if application data may be encrypted."""
        self._failed = False

    def decrypt(self, data: bytes) -> bytes:
        """Return the application data that the received bytes complete. `encrypt` may then return a reply to send.

        Raises TlsError.
        """
        self._received.write(data)
        decrypted = []
        try:
            if not self.handshake_done:
                self._ssl.do_handshake()
                self.handshake_done = True
                if self._ssl.selected_alpn_protocol() != HTTP2:
                    raise TlsError("the peer does not offer HTTP/2 (ALPN)")
            while piece := self._ssl.read(1 << 16):
                decrypted.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            # Ignore close_notify: the socket reports the end of the stream, too.
            if not isinstance(error, ssl.SSLZeroReturnError):
                self._failed = True
                raise TlsError(str(error)) from error
        return b"".join(decrypted)

    def encrypt(self, data: bytes) -> bytes:
        """Return the bytes to send: pending handshake messages and alerts, then this application data, encrypted.

        After `decrypt` has failed, only pending messages are returned.
        """
        if data and not self._failed:
            self._ssl.write(data)
        return self._to_send.read()
