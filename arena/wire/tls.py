"""TLS without a socket: what the peer sent goes in and what it says comes out, and the other way round."""

from __future__ import annotations

import ssl
from pathlib import Path

HTTP2 = "h2"
"""What client and server agree to speak (ALPN)."""


class TlsError(Exception):
    """The peer does not speak TLS, or not so that it can be understood."""


def load_credentials(certificate: Path, key: Path) -> ssl.SSLContext:
    """The credentials of a server, from PEM files. Raises ssl.SSLError where they do not fit, OSError without them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key, password="")  # a key with a password would be asked for on the terminal
    context.set_alpn_protocols([HTTP2])
    return context


class Tls:
    """The server's end of one connection."""

    def __init__(self, credentials: ssl.SSLContext) -> None:
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = credentials.wrap_bio(self._received, self._to_send, server_side=True)
        self.shaken = False
        """The handshake is over."""

    def unseal(self, data: bytes) -> bytes:
        """What the peer has said with these bytes and all before. `seal` may have an answer. Raises TlsError."""
        self._received.write(data)
        said = []
        try:
            if not self.shaken:
                self._ssl.do_handshake()
                self.shaken = True
                if self._ssl.selected_alpn_protocol() != HTTP2:
                    raise TlsError("the peer does not offer HTTP/2 (ALPN)")
            while piece := self._ssl.read(1 << 16):
                said.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            if not isinstance(error, ssl.SSLZeroReturnError):  # a goodbye; the end of the connection comes, too
                raise TlsError(str(error)) from error
        return b"".join(said)

    def seal(self, data: bytes) -> bytes:
        """What is to be sent over the wire to say this, and what TLS itself has to say."""
        if data:
            self._ssl.write(data)
        return self._to_send.read()
