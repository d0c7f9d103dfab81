"""The port: sockets, and turns. Everything that has arrived by now is one turn, and what is to leave leaves at its end.

One task, no threads: trio waits on a selector that holds every socket of the port. A connection is a `Line`; what is
said on it is `http2`'s to understand.
"""

from __future__ import annotations

import errno
import selectors
import socket
import ssl
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Final, TypeAlias

import structlog
import trio

from arena.wire.http2 import Headers, Http2Connection, Http2Error, Http2Stream
from arena.wire.settings import Settings
from arena.wire.tls import Tls, TlsError

Turn: TypeAlias = AbstractContextManager[None, None]
NO_TURN: Final[Turn] = nullcontext()

Accept: TypeAlias = Callable[["Line", Http2Connection, int, Headers], Http2Stream | None]

CHUNK: Final = 1 << 16
"""Bytes taken of a connection in one turn."""
BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""
WELCOMED: Final = 8
"""Connections accepted in one turn."""
EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
LARGEST_TURN: Final = 32
"""Connections heard in one turn: peers need not wait for what others said, and work while the rest is heard."""
LINGER: Final = 30.0
"""Seconds a peer may leave the end of a call unread."""
ROUND: Final = 0.5
"""Seconds between two looks at which connections are silent."""

log = structlog.get_logger(__name__)


class Port:
    """A listening socket and its connections."""

    def __init__(
        self, address: str, settings: Settings, credentials: ssl.SSLContext | None = None, turn: Turn = NO_TURN
    ) -> None:
        """Binds "host:port"; `turn` is entered around all that arrives at a time. Raises RuntimeError."""
        self.settings = settings
        self.now = trio.current_time()
        """Instant at which what is handled now arrived."""
        self.turn = 0
        """Number of the turn."""
        self.credentials = credentials
        self.lines: set[Line] = set()
        self.empty = trio.Event()
        """Closed, and the last connection is gone."""
        self._listeners = _bind(address)
        self._exhausted: list[socket.socket] = []
        self._token = trio.lowlevel.current_trio_token()
        self._turn = turn
        self.closed = False
        """No more connections and calls are taken."""
        self._in_turn = self._over = False
        self._next: list[Callable[[], None]] = []
        self._speaking: dict[Line, None] = {}
        self._selector = selectors.DefaultSelector()

    @property
    def number(self) -> int:
        """The bound port."""
        number: int = self._listeners[0].getsockname()[1]
        return number

    async def run(self, accept: Accept) -> None:
        """Serves until cancelled; `accept` makes the stream of a request."""
        self.accept = accept
        try:
            for listener in () if self.closed else self._listeners:
                self._listen(listener)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._look_around)
                while True:
                    if self._next:
                        await trio.lowlevel.checkpoint()
                    else:
                        await trio.lowlevel.wait_readable(self._selector.fileno())
                    self._step()
        finally:
            for line in list(self.lines):
                line.lose()
            self.close()
            self._over = True
            self._selector.close()

    def close(self) -> None:
        """No more connections, and no more calls on those there are."""
        if self.closed:
            return
        self.closed = True
        for listener in self._listeners:
            with suppress(KeyError):
                self._selector.unregister(listener)
            listener.close()
        for line in list(self.lines):
            line.http2.parting = True
            line.http2.part()
            self.speak(line)
        if not self.lines:
            self.empty.set()

    def later(self, callback: Callable[[], None]) -> None:
        """Have something called in the next turn."""
        self._next.append(callback)
        if not self._in_turn:
            self._token.run_sync_soon(self._step, idempotent=True)

    def speak(self, line: Line) -> None:
        """A connection has something to send."""
        if self._in_turn:
            self._speaking[line] = None
        else:
            line.flush()

    def watch(self, line: Line, *, writing: bool) -> None:
        """Has a connection told when it can be read, and when it can be written, too."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        self._selector.modify(line.socket, events, line.ready)

    def forget(self, line: Line) -> None:
        """A connection is over."""
        self.lines.discard(line)
        self._speaking.pop(line, None)
        self._selector.unregister(line.socket)
        if self.closed and not self.lines:
            self.empty.set()

    def _step(self) -> None:
        """What has arrived by now, in as many turns as it takes."""
        if self._over:
            return
        self.now = trio.current_time()
        ready = self._selector.select(0)
        for start in range(0, max(len(ready), 1), LARGEST_TURN):
            self._take(ready[start : start + LARGEST_TURN])

    def _take(self, ready: Sequence[tuple[selectors.SelectorKey, int]]) -> None:
        """One turn."""
        self.turn += 1
        self._in_turn = True
        try:
            with self._turn:
                callbacks, self._next = self._next, []
                for callback in callbacks:
                    callback()
                for key, events in ready:
                    key.data(events)
        finally:
            self._in_turn = False
        speaking, self._speaking = self._speaking, {}
        for line in speaking:
            line.flush()

    def _listen(self, listener: socket.socket) -> None:
        self._selector.register(listener, selectors.EVENT_READ, partial(self._greet, listener))

    def _greet(self, listener: socket.socket, _: int) -> None:
        """Takes connections that wait."""
        for _ in range(WELCOMED):
            try:
                connection, address = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in EXHAUSTED:
                    log.error("no more connections can be accepted", error=str(error), retry_in=ROUND)
                    self._selector.unregister(listener)
                    self._exhausted.append(listener)
                    return
                continue  # this one was given up while it waited
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = Line(self, connection, _name(address))
            self.lines.add(line)
            self._selector.register(connection, selectors.EVENT_READ, line.ready)
            self.speak(line)

    async def _look_around(self) -> None:
        """Pings who is silent, gives up who does not answer, and accepts again after there was no room."""
        while True:
            await trio.sleep(ROUND)
            exhausted, self._exhausted = self._exhausted, []
            for listener in exhausted:
                self._listen(listener)
            now = trio.current_time()
            for line in list(self.lines):
                line.look(now)


class Line:
    """One connection."""

    def __init__(
        self,
        port: Port,
        connection: socket.socket,
        peer: str,
    ) -> None:
        self.socket = connection
        self.peer = peer
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
        """Pings a peer that is silent during a call; gives one up that does not answer, or never began to speak."""
        settings, silence = self._port.settings, now - self._heard_at
        for stream in list(self.http2.stalled):
            stream.linger(now, LINGER)
        if not self.http2.greeted:
            if now - self._since > settings.handshake_timeout:
                self.lose()
        elif self.http2.pinged:
            if silence > settings.ping_after + settings.ping_timeout:
                self.lose()
        elif self.http2.streams and silence > settings.ping_after:
            self.http2.ping()
            self._port.speak(self)

    def lose(self) -> None:
        """The connection is over."""
        if self.socket.fileno() < 0:
            return
        self._port.forget(self)
        self.socket.close()
        self.http2.lost()


def _bind(address: str) -> list[socket.socket]:
    """Listening sockets at an address."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    listeners: list[socket.socket] = []
    try:
        if not port.isdecimal() or int(port) > 65535:
            raise OSError(f"{port!r} is no port number")
        found = socket.getaddrinfo(host or None, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, where in found:
            listener = socket.socket(family, kind, protocol)
            listeners.append(listener)
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host != "::")
            listener.bind(where if len(listeners) == 1 else (where[0], listeners[0].getsockname()[1], *where[2:]))
            listener.listen(BACKLOG)
    except OSError as error:
        for listener in listeners:
            listener.close()
        raise RuntimeError(f"cannot listen at {address}: {error}") from error
    return listeners


def _name(address: tuple[str, int] | tuple[str, int, int, int]) -> str:
    """A peer's, as gRPC writes it."""
    host, port, *ipv6 = address
    return f"ipv6:[{host}]:{port}" if ipv6 else f"ipv4:{host}:{port}"
