"""A connection: its socket, what it has yet to send, and whether its peer lives. `http2` knows what is said on it."""

from __future__ import annotations

import selectors
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import structlog

from arena.wire.http2 import Http2Connection, Http2Error
from arena.wire.http2_stream import Headers, Http2Stream
from arena.wire.tls import Tls, TlsError

if TYPE_CHECKING:
    from arena.wire.gate import Origin
    from arena.wire.port import Port

Accept: TypeAlias = Callable[["Line", Http2Connection, int, Headers], Http2Stream | None]
"""Makes the stream of a request; None refuses it."""

CHUNK: Final = 1 << 16
"""Bytes taken of a connection in one turn."""
LINGER: Final = 30.0
"""Seconds a peer may leave the end of a call unread, or stay after it was asked to go."""
FORGIVEN: Final = 50
"""Frames that ask for nothing which are forgotten at each look: a hundred a second."""

log = structlog.get_logger(__name__)


class Line:
    """One connection."""

    def __init__(
        self,
        port: Port,
        connection: socket.socket,
        peer: str,
        origin: Origin,
    ) -> None:
        self.socket = connection
        self.peer = peer
        self.origin = origin
        settings = port.settings
        self.http2 = Http2Connection(
            calls=settings.calls_per_connection,
            metadata=settings.max_metadata,
            accept=partial(port.accept, self),
            wake=partial(port.speak, self),
        )
        self._port = port
        self._tls = None if port.credentials is None else Tls(port.credentials)
        self._unsent = memoryview(b"")
        self._since = self._heard_at = port.now
        """Since then it has had no call; something was last heard of it."""
        self._newest = 0

    def ready(self, events: int) -> None:
        """It can be read, or written."""
        if events & selectors.EVENT_WRITE:
            self.flush()
        if events & selectors.EVENT_READ:
            self._read()

    def _read(self) -> None:
        try:
            data = self.socket.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.lose()
            return
        self._heard_at = self._port.now
        try:
            self.http2.receive(data if self._tls is None else self._tls.unseal(data))
        except (Http2Error, TlsError) as error:
            log.debug("connection cut off", peer=self.peer, reason=str(error))
            self.flush()
            self.lose()
            return
        except Exception:  # noqa: BLE001 - whatever a peer says, the server lives
            log.error("a connection failed", peer=self.peer, traceback=traceback.format_exc())
            self.lose()
            return
        if self.http2.outgoing or self._tls is not None:
            self._port.speak(self)

    def flush(self) -> None:
        """Sends what there is to send, or as much as goes now and the rest when it can."""
        http2 = self.http2
        if self.socket.fileno() < 0:
            return
        outgoing, data = http2.outgoing, b""
        if self._tls is None or self._tls.shaken:
            data = b"".join(outgoing)
            outgoing.clear()
        if self._tls is not None:
            data = self._tls.seal(data)
        if waiting := bool(self._unsent):
            data = bytes(self._unsent) + data
        sent = self._send(data) if data else 0
        if sent < len(data):
            self._unsent = memoryview(data)[sent:]
            if len(self._unsent) > self._port.settings.max_unsent:
                log.debug("connection cut off", peer=self.peer, reason="it does not read")
                self.lose()
            elif not waiting:
                self._port.watch(self, writing=True)
            return
        if waiting:
            self._unsent = memoryview(b"")
            self._port.watch(self, writing=False)
        if http2.leaving:
            http2.left()
        if self._port.closed and not http2.streams and not outgoing:
            # The rest is the peer's to say; closing at once could make its system throw away what it has yet to read.
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def _send(self, data: bytes) -> int:
        """How much the system took of it."""
        try:
            return self.socket.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self.lose()
            return len(data)

    def look(self, now: float) -> None:
        """Pings a peer that is silent during a call, and gives one up that does not answer or never began to speak.

        One that has no call is asked to go.
        """
        http2, settings, silence = self.http2, self._port.settings, now - self._heard_at
        http2.forgive(FORGIVEN)
        for stream in list(http2.stalled):
            stream.linger(now, LINGER)
        if http2.streams or http2.newest != self._newest:
            self._since, self._newest = now, http2.newest
        idle = now - self._since
        if not http2.greeted:
            if idle > settings.handshake_timeout:
                self.lose()
        elif http2.pinged:
            if silence > settings.ping_after + settings.ping_timeout:
                self.lose()
        elif http2.streams:
            if silence > settings.ping_after:
                http2.ping()
                self._port.speak(self)
        elif idle > settings.idle_timeout + LINGER:
            self.lose()
        elif idle > settings.idle_timeout and not http2.parting:
            http2.part()
            self._port.speak(self)

    def lose(self) -> None:
        """The connection is over."""
        if self.socket.fileno() < 0:
            return
        self._port.forget(self)
        self.socket.close()
        self.http2.lost()
