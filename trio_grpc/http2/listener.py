# Compiled: every decision passes through here.
"""Listening sockets, their connections, and turns. A turn handles all input that is ready, then sends the output.

There is one task and no thread: trio waits for a selector with all sockets of the listener. So a message needs no task
switch, and the output for several messages is sent together.
"""

from __future__ import annotations

import errno
import selectors
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Final, TypeAlias

import structlog
import trio

from trio_grpc.http2.connection import AcceptRequest, Connection
from trio_grpc.http2.proxy_protocol import PeerAddress, ProxiedConnection, among, networks
from trio_grpc.http2.sockets import bind, bind_unix, peer_name
from trio_grpc.limits.connection_limits import ConnectionLimits
from trio_grpc.limits.memory_budget import MemoryBudget
from trio_grpc.limits.work_budget import WorkBudget

if TYPE_CHECKING:
    import ssl

    from trio_grpc.limits.settings import TransportSettings

TurnContext: TypeAlias = AbstractContextManager[None, None]
"""A reusable context manager, entered around the handling of each turn's input and left before its output is sent."""
NO_CONTEXT: Final[TurnContext] = nullcontext()

ACCEPTS_PER_TURN: Final = 8
"""Maximum number of connections accepted in one turn."""
OUT_OF_RESOURCES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
SOCKETS_PER_TURN: Final = 32
"""Maximum number of sockets handled in one turn, so that the first peers soon get their output."""
TIME_SLICE: Final = 0.002
"""Number of seconds after which no new turn begins before trio's other tasks have run."""
RESUME_INTERVAL: Final = 0.02
"""Seconds between two checks of the paused connections."""
CHECK_INTERVAL: Final = 0.5
"""Seconds between two checks of every connection."""

log = structlog.get_logger(__name__)


class Listener:
    """The listening sockets of one address and the connections they have accepted."""

    def __init__(
        self,
        address: str,
        settings: TransportSettings,
        credentials: ssl.SSLContext | None = None,
        turn: TurnContext = NO_CONTEXT,
    ) -> None:
        """Bind "host:port" (port 0 for any free port) or "unix:PATH". `turn` is entered around each turn's input.

        Raises RuntimeError if the address cannot be bound.
        """
        self.settings = settings
        self.now = trio.current_time()
        """Time at which the input of this turn arrived."""
        self.turn_number = 0
        """Number of this turn, counted from 1."""
        self.credentials = credentials
        self.connections: set[Connection] = set()
        self.untrusted = MemoryBudget(settings.max_memory_untrusted)
        """The memory budget of peers that are not authenticated."""
        self.work = WorkBudget(settings.work_untrusted)
        """The budget for the processor time of calls that are not authenticated."""
        self._paused_connections: dict[Connection, None] = {}
        """Connections paused because their origin has used up its budget, oldest first."""
        self._resumer = trio.lowlevel.ParkingLot()
        self.drained = trio.Event()
        """Event that is set when the listener and its last connection are closed."""
        self._connection_limits = ConnectionLimits(settings.connections, settings.connections_per_address)
        try:
            self._proxies = networks(settings.proxies) if settings.proxies else ()
        except ValueError as error:
            raise RuntimeError(f"proxies: {error}") from error
        self._proxied: set[ProxiedConnection] = set()
        """Connections of proxies that have not yet reported the client's address."""
        self._sockets = bind(address)
        if settings.unix_socket is not None:
            try:
                self._sockets.append(bind_unix(settings.unix_socket))
            except RuntimeError:
                for listening in self._sockets:
                    listening.close()
                raise
        self._inodes = {
            each: Path(each.getsockname()).stat().st_ino for each in self._sockets if each.family == socket.AF_UNIX
        }
        self._paused: list[socket.socket] = []
        self._trio_token = trio.lowlevel.current_trio_token()
        self._turn_context = turn
        self.closed = False
        """True if new connections and calls are refused."""
        self._in_turn = self._finished = False
        self._callbacks: list[Callable[[], None]] = []
        self._to_flush: dict[Connection, None] = {}
        self._selector = selectors.DefaultSelector()

    @property
    def port(self) -> int:
        """Number of the bound port, or 0 for a Unix socket."""
        first = self._sockets[0] if self._sockets else None
        return 0 if first is None or first.family == socket.AF_UNIX else int(first.getsockname()[1])

    async def run(self, accept_request: AcceptRequest) -> None:
        """Accept connections and handle their input until cancelled. `accept_request` creates their streams.

        Connections are still open afterwards, and `finish` closes them.
        """
        self.accept_request = accept_request
        try:
            for listening in () if self.closed else self._sockets:
                self._start_accepting(listening)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._check_at_intervals)
                nursery.start_soon(self._resume_connections)
                while True:
                    while self._run_turns():
                        await trio.lowlevel.checkpoint()
                    await trio.lowlevel.wait_readable(self._selector.fileno())
        finally:
            self._finished = True
            self.drained.set()  # No task serves the connections any more.

    def finish(self) -> None:
        """Close every connection. Call this when `run` has ended and no call's handler is running.

        A running handler would otherwise see its peer vanish.
        """
        for connection in list(self.connections):
            connection.close()
        for proxied in self._proxied:
            proxied.socket.close()
        self.close()
        self._selector.close()

    def close(self) -> None:
        """Stop listening and send GOAWAY on every connection. Open calls continue."""
        if self.closed:
            return
        self.closed = True
        for listening in self._sockets:
            with suppress(KeyError):
                self._selector.unregister(listening)
            if listening in self._inodes:
                path = Path(listening.getsockname())
                with suppress(OSError):
                    if path.stat().st_ino == self._inodes[listening]:  # Otherwise another server owns the file by now.
                        path.unlink()
            listening.close()
        for connection in list(self.connections):
            connection.http2.send_goaway()
            self.schedule_flush(connection)
        if not self.connections:
            self.drained.set()

    def run_next_turn(self, callback: Callable[[], None]) -> None:
        """Run a callback in the next turn, even without further input."""
        self._callbacks.append(callback)
        if not self._in_turn:
            self._trio_token.run_sync_soon(self._run_turns_soon, idempotent=True)

    def schedule_flush(self, connection: Connection) -> None:
        """Flush a connection at the end of the current turn, or at once between turns."""
        if self._in_turn:
            self._to_flush[connection] = None
        else:
            connection.flush()

    def set_interest(self, connection: Connection, *, reading: bool, writing: bool) -> None:
        """Call the connection's `ready` when its socket is readable or writable, as requested."""
        if connection not in self.connections:
            return
        events = selectors.EVENT_READ * reading | selectors.EVENT_WRITE * writing
        with suppress(KeyError):
            self._selector.unregister(connection.socket)
        if events:
            self._selector.register(connection.socket, events, connection.ready)

    def pause(self, connection: Connection) -> None:
        """Call `connection.resume` when its origin has budget again. Connections resume in the order of pausing."""
        self._paused_connections[connection] = None
        self._resumer.unpark()

    def remove(self, connection: Connection) -> None:
        """Discard a connection whose socket is about to be closed."""
        self.connections.discard(connection)
        self._connection_limits.release(connection.origin)
        self._to_flush.pop(connection, None)
        self._paused_connections.pop(connection, None)
        with suppress(KeyError):
            self._selector.unregister(connection.socket)
        if self.closed and not self.connections:
            self.drained.set()

    def _run_turns(self) -> bool:
        """Run turns until no input is left or the time slice is over. Return True if the time slice is over."""
        if self._finished:
            return False
        self.now = trio.current_time()
        until = self.now + TIME_SLICE
        while True:
            ready = self._selector.select(0)
            if not ready and not self._callbacks:
                return False
            for start in range(0, max(len(ready), 1), SOCKETS_PER_TURN):
                self._run_turn(ready[start : start + SOCKETS_PER_TURN])
            self.now = trio.current_time()
            if self.now >= until:
                return True

    def _run_turns_soon(self) -> None:
        """Run turns for callbacks while `run` may be waiting for a socket."""
        if self._run_turns():
            self._trio_token.run_sync_soon(self._run_turns_soon, idempotent=True)

    def _run_turn(self, ready: Sequence[tuple[selectors.SelectorKey, int]]) -> None:
        """Run due callbacks, handle the ready sockets, and flush the connections that have output."""
        self.turn_number += 1
        self._in_turn = True
        try:
            with self._turn_context:
                callbacks, self._callbacks = self._callbacks, []
                for callback in callbacks:
                    callback()
                for key, events in ready:
                    key.data(events)
        finally:
            self._in_turn = False
        to_flush, self._to_flush = self._to_flush, {}
        for connection in to_flush:
            connection.flush()

    def _start_accepting(self, listening: socket.socket) -> None:
        self._selector.register(listening, selectors.EVENT_READ, partial(self._accept, listening))

    def _accept(self, listening: socket.socket, _: int) -> None:
        """Accept connections from the backlog. Pause if files or memory are exhausted."""
        for _ in range(ACCEPTS_PER_TURN):
            try:
                accepted, address = listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in OUT_OF_RESOURCES:
                    log.error("no more connections can be accepted", error=str(error), retry_in=CHECK_INTERVAL)
                    self._selector.unregister(listening)
                    self._paused.append(listening)
                    return
                continue  # The peer gave up before we accepted its connection.
            accepted.setblocking(False)
            if listening.family == socket.AF_UNIX:
                self._wait_for_header(ProxiedConnection(accepted, None, self.now + self.settings.handshake_timeout))
                continue
            with suppress(OSError):  # macOS refuses this if the peer has already left.
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._proxies and among(address[0], self._proxies):
                if len(self._proxied) + len(self.connections) >= self._connection_limits.connections:
                    accepted.close()
                    continue
                self._wait_for_header(ProxiedConnection(accepted, address, self.now + self.settings.handshake_timeout))
            else:
                self._connect(accepted, address, self.credentials)

    def _wait_for_header(self, proxied: ProxiedConnection) -> None:
        self._proxied.add(proxied)
        self._selector.register(proxied.socket, selectors.EVENT_READ, partial(self._read_header, proxied))

    def _read_header(self, proxied: ProxiedConnection, _: int) -> None:
        """Read a proxy's header and no byte beyond it, and start the connection."""
        if proxied not in self._proxied:
            return  # The connection was closed during this turn.
        try:
            header = proxied.read()
        except BlockingIOError:
            return
        except (OSError, ValueError) as error:
            proxy = "unix:" if proxied.address is None else proxied.address[0]
            log.warning("no header of the PROXY protocol", proxy=proxy, error=str(error))
            self._forget(proxied)
            proxied.socket.close()
            return
        if header is not None:
            self._forget(proxied)
            credentials = None if proxied.address is None else self.credentials
            self._connect(proxied.socket, header.peer or proxied.address, credentials)

    def _forget(self, proxied: ProxiedConnection) -> None:
        self._proxied.discard(proxied)
        self._selector.unregister(proxied.socket)

    def _connect(
        self, accepted: socket.socket, address: PeerAddress | None, credentials: ssl.SSLContext | None
    ) -> None:
        """Start a client's connection, or close it if limits forbid it. `address` is None for a Unix socket."""
        origin = self._connection_limits.admit(address[0] if address else "", self.now)
        if origin is None:
            accepted.close()
            return
        start = thread_time()
        connection = Connection(self, accepted, peer_name(address) if address else "unix:", origin, credentials)
        self.connections.add(connection)
        connection.begin()
        connection.charge(thread_time() - start)

    async def _check_at_intervals(self) -> None:
        """Call `_check` at intervals. Each call is one turn, so the output is sent after all checks."""
        while True:
            await trio.sleep(CHECK_INTERVAL)
            self.run_next_turn(self._check)

    def _check(self) -> None:
        """Check the timeouts of every connection, and resume accepting if it was paused."""
        paused, self._paused = self._paused, []
        for listening in () if self.closed else paused:
            self._start_accepting(listening)
        for proxied in [each for each in self._proxied if each.until <= self.now]:
            self._forget(proxied)
            proxied.socket.close()
        for connection in list(self.connections):
            connection.check(self.now)
        self.untrusted.return_memory()
        self.work.forget_full(self.now)

    async def _resume_connections(self) -> None:
        """Read paused connections again at intervals, in the order in which they were paused."""
        while True:
            if not self._paused_connections:
                await self._resumer.park()
            await trio.sleep(RESUME_INTERVAL)
            self.run_next_turn(self._resume_affordable)

    def _resume_affordable(self) -> None:
        for connection in list(self._paused_connections):
            if connection not in self._paused_connections:
                continue
            if connection.http2.trusted or self.work.wait(connection.origin, self.now) <= 0:
                del self._paused_connections[connection]
                connection.resume()
