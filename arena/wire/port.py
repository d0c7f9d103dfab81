"""The port: sockets, and turns. Everything that has arrived by now is one turn, and what is to leave leaves at its end.

One task, no threads: trio waits on a selector that holds every socket of the port. A connection is a `line`.
"""

from __future__ import annotations

import errno
import selectors
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import structlog
import trio

from arena.wire.gate import Gate
from arena.wire.line import Accept, Line

if TYPE_CHECKING:
    import ssl

    from arena.wire.settings import Settings

Turn: TypeAlias = AbstractContextManager[None, None]
NO_TURN: Final[Turn] = nullcontext()

BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""
WELCOMED: Final = 8
"""Connections accepted in one turn."""
EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
LARGEST_TURN: Final = 32
"""Connections heard in one turn: peers need not wait for what others said, and work while the rest is heard."""
MOMENT: Final = 0.002
"""Seconds after which sockets are not looked at again before the other tasks have their turn."""
ROUND: Final = 0.5
"""Seconds between two looks at every connection."""

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
        self._gate = Gate(settings.connections, settings.connections_per_address)
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
                    while self._step():
                        await trio.lowlevel.checkpoint()
                    await trio.lowlevel.wait_readable(self._selector.fileno())
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
            line.http2.part()
            self.speak(line)
        if not self.lines:
            self.empty.set()

    def later(self, callback: Callable[[], None]) -> None:
        """Have something called in the next turn."""
        self._next.append(callback)
        if not self._in_turn:
            self._token.run_sync_soon(self._step_aside, idempotent=True)

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
        self._gate.leave(line.origin)
        self._speaking.pop(line, None)
        self._selector.unregister(line.socket)
        if self.closed and not self.lines:
            self.empty.set()

    def _step(self) -> bool:
        """Turns until nothing more has arrived; True where the other tasks are to have theirs before that."""
        if self._over:
            return False
        until = trio.current_time() + MOMENT
        while True:
            self.now = trio.current_time()
            ready = self._selector.select(0)
            if not ready and not self._next:
                return False
            for start in range(0, max(len(ready), 1), LARGEST_TURN):
                self._take(ready[start : start + LARGEST_TURN])
            if trio.current_time() >= until:
                return True

    def _step_aside(self) -> None:
        """A step besides those of `run`, which may be waiting for a socket."""
        if self._step():
            self._token.run_sync_soon(self._step_aside, idempotent=True)

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
            origin = self._gate.enter(address[0], self.now)
            if origin is None:
                connection.close()
                continue
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = Line(self, connection, _name(address), origin)
            self.lines.add(line)
            self._selector.register(connection, selectors.EVENT_READ, line.ready)
            self.speak(line)

    async def _look_around(self) -> None:
        """Looks after every connection, and accepts again after there was no room."""
        while True:
            await trio.sleep(ROUND)
            exhausted, self._exhausted = self._exhausted, []
            for listener in exhausted:
                self._listen(listener)
            now = trio.current_time()
            for line in list(self.lines):
                line.look(now)


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
