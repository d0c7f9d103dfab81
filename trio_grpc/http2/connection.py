# Compiled: every decision passes through here.
"""One accepted connection: its socket, TLS, unsent bytes, keepalive pings and timeouts.

It transfers bytes between the socket and `http2`, which interprets them. It does not depend on frames, calls or
messages.
"""

from __future__ import annotations

import selectors
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from struct import Struct
from time import thread_time
from typing import TYPE_CHECKING, Final, TypeAlias

import structlog
from h2.errors import ErrorCodes

from trio_grpc.http2.http2 import Http2Connection, Http2Error
from trio_grpc.http2.http2_stream import Headers, Http2Stream
from trio_grpc.http2.tls import Tls, TlsError

if TYPE_CHECKING:
    import ssl

    from trio_grpc.http2.listener import Listener
    from trio_grpc.limits.connection_limits import Origin

AcceptRequest: TypeAlias = Callable[["Connection", Http2Connection, int, Headers], Http2Stream | None]
"""Function that creates the stream of a request from its stream identifier and headers, or returns
None to refuse it.
"""

RECEIVE_SIZE: Final = 1 << 16
"""Maximum number of bytes read from a socket in one turn."""
RECEIVE_SIZE_UNTRUSTED: Final = 1 << 13
"""Maximum number of bytes read in one turn until a call on the connection is authenticated. Headers of this size take
one or two milliseconds to handle.
"""
LINGER: Final = 30.0
"""Maximum time in seconds that a peer may leave a call's last data unread, or keep a connection open after GOAWAY."""
TCP_INFO: Final = int(getattr(socket, "TCP_INFO", 0))
"""The socket option with information about TCP; 0 if there is none."""
MIN_RTT: Final = Struct("=148xI")
"""Linux's `struct tcp_info` up to and including `tcpi_min_rtt`, the smallest round trip in microseconds."""
UNKNOWN_RTT: Final = 0xFFFFFFFF
"""The kernel's value for a round trip that has not been measured yet."""
UNREAD_PER_BYTE: Final = 8
"""Ratio between the memory that a peer without a token may use for unread answers and for requests."""
REFUND_PER_CHECK: Final = 50
"""Number of useless frames that each check refunds."""

log = structlog.get_logger(__name__)


class Connection:
    """The server's end of one TCP connection."""

    def __init__(
        self,
        listener: Listener,
        sock: socket.socket,
        peer: str,
        origin: Origin,
        credentials: ssl.SSLContext | None,
    ) -> None:
        self.socket = sock
        self.peer = peer
        self.origin = origin
        settings = listener.settings
        self.http2 = Http2Connection(
            calls_per_connection=settings.calls_per_connection,
            max_metadata=settings.max_metadata,
            accept_request=partial(listener.accept_request, self),
            request_flush=partial(listener.schedule_flush, self),
            on_failure=self._fail_soon,
        )
        self._listener = listener
        self._tls = None if credentials is None else Tls(credentials)
        self._unsent = memoryview(b"")
        self._idle_since = self._received_at = listener.now
        """Start of the current period without calls, and the time at which bytes last arrived."""
        self._newest_stream_id = 0
        self._consumed, self._progress_at = 0, listener.now
        """Value of `http2.consumed` at the last check, and the time of the last check that found progress or no
        incomplete frame.
        """
        self.held = 0
        """Number of bytes that the budget counts for the connection (`Holder.held`)."""
        self._charged = 0.0
        """Processor time in seconds that is refunded when the connection becomes trusted."""
        self._paused = False

    def charge(self, seconds: float) -> None:
        """Charge processor time to the origin. All charges are refunded when the connection becomes trusted."""
        self._charged += seconds
        if self.http2.trusted:
            seconds -= self._charged
            self._charged = 0.0
        self._listener.work.charge(self.origin, seconds, self._listener.now)

    def shortest_round_trip(self) -> float | None:
        """Implement `Stream.shortest_round_trip` with the kernel's measurement, by default over the
        last five minutes.
        """
        if not TCP_INFO:
            return None
        try:
            told = self.socket.getsockopt(socket.IPPROTO_TCP, TCP_INFO, MIN_RTT.size)
        except OSError:  # The socket is closed, or not a TCP socket.
            return None
        (microseconds,) = MIN_RTT.unpack(told) if len(told) == MIN_RTT.size else (UNKNOWN_RTT,)
        return None if microseconds == UNKNOWN_RTT else float(microseconds) / 1e6

    def begin(self) -> None:
        """Wait for the peer's first bytes. Send the server's SETTINGS."""
        try:
            self._set_interest()
            self._listener.schedule_flush(self)
        except Exception:  # noqa: BLE001 - see `fail`
            self.fail()

    def ready(self, events: int) -> None:
        """Handle a ready socket. `events` is a mask of `selectors.EVENT_READ` and `EVENT_WRITE`."""
        try:
            if events & selectors.EVENT_WRITE:
                self.flush()
            if events & selectors.EVENT_READ:
                self._read()
        except Exception:  # noqa: BLE001 - see `fail`
            self.fail()

    def _read(self) -> None:
        """Receive bytes. From an untrusted peer, receive only as many as its budget allows."""
        http2 = self.http2
        if http2.trusted:
            self._receive(RECEIVE_SIZE)
            if http2.h2_work:  # This is the work of opening calls. Other work is charged to each call.
                self._listener.work.charge(self.origin, http2.h2_work, self._listener.now)
                http2.h2_work = 0.0
        elif self._listener.work.wait(self.origin, self._listener.now) > 0:
            self._paused = True
            self._set_interest()
            self._listener.pause(self)
        else:
            start = thread_time()
            self._receive(RECEIVE_SIZE_UNTRUSTED)
            http2.h2_work = 0.0
            self.charge(thread_time() - start)

    def resume(self) -> None:
        """Continue reading after a pause."""
        self._paused = False
        self._received_at = self._listener.now
        try:
            self._set_interest()
            self._read()
        except Exception:  # noqa: BLE001 - see `fail`
            self.fail()

    def _set_interest(self) -> None:
        self._listener.set_interest(self, reading=not self._paused, writing=bool(self._unsent))

    def _receive(self, size: int) -> None:
        try:
            data = self.socket.recv(size)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._received_at = self._listener.now
        try:
            self.http2.receive(data if self._tls is None else self._tls.decrypt(data))
        except (Http2Error, TlsError) as error:
            self._give_up(str(error))
            return
        self._count_memory()
        if self.http2.ping_answers and not self.http2.trusted:
            self.http2.take_ping_answers()  # An unauthenticated peer may send nothing but pings.
        if self.http2.outgoing or self._tls is not None:
            self._listener.schedule_flush(self)

    def flush(self) -> None:
        """Send as many pending bytes as the socket accepts now, and the rest when it is writable."""
        if self.socket.fileno() < 0:
            return
        try:
            if self.http2.trusted and not self._charged:
                self._flush()
            else:
                start = thread_time()
                self._flush()
                self._count_memory()
                self.charge(thread_time() - start)
        except Exception:  # noqa: BLE001 - see `fail`
            self.fail()

    def _count_memory(self) -> None:
        """Count the memory that an open connection uses for an untrusted peer."""
        http2 = self.http2
        if (self.held or not http2.trusted) and self.socket.fileno() >= 0:
            unread = len(self._unsent) + http2.stalled_size
            self._listener.untrusted.hold(self, 0 if http2.trusted else http2.incomplete + unread // UNREAD_PER_BYTE)

    def _flush(self) -> None:
        http2 = self.http2
        outgoing, data = http2.outgoing, b""
        if self._tls is None or self._tls.handshake_done:
            if outgoing and http2.ping_answers:
                http2.take_ping_answers()
            data = b"".join(outgoing)
            outgoing.clear()
        if self._tls is not None:
            data = self._tls.encrypt(data)
        if waiting := bool(self._unsent):
            data = bytes(self._unsent) + data
        sent = self._send(data) if data else 0
        if sent < len(data):
            self._unsent = memoryview(data)[sent:]
            if len(self._unsent) > self._listener.settings.max_unsent:
                log.debug("connection closed", peer=self.peer, reason="the peer does not read")
                self.close()
            elif not waiting:
                self._set_interest()
            return
        if waiting:
            self._unsent = memoryview(b"")
            self._set_interest()
        if http2.fully_queued:
            http2.outgoing_sent()
        if self._listener.closed and not http2.streams and not outgoing:
            # Only half-close, and let the peer close the connection: after close() its system might discard unread
            # data.
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def _send(self, data: bytes) -> int:
        """Return the number of bytes that the socket accepted. If the connection is broken, all count as accepted."""
        try:
            return self.socket.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self.close()
            return len(data)

    def check(self, now: float) -> None:
        """Apply the timeouts of `TransportSettings` at the time `now`, and answer pings.

        Close the connection if its handshake or a frame stays incomplete, or a ping unanswered. Ping a peer that is
        silent during a call. Send GOAWAY after a long time without calls, and close the connection `LINGER` later.
        """
        try:
            self._check(now)
        except Exception:  # noqa: BLE001 - see `fail`
            self.fail()

    def _check(self, now: float) -> None:
        if self._paused:
            self._received_at = self._idle_since = now  # The peer may have sent data in the meantime.
        http2, settings, silence = self.http2, self._listener.settings, now - self._received_at
        http2.refund_useless_frames(REFUND_PER_CHECK)
        if http2.ping_answers:
            http2.take_ping_answers()
            self._listener.schedule_flush(self)
        http2.check_timeouts(now, LINGER)
        if http2.streams or http2.newest_stream_id != self._newest_stream_id:
            self._idle_since, self._newest_stream_id = now, http2.newest_stream_id
        idle = now - self._idle_since
        if not http2.settings_received:
            if idle > settings.handshake_timeout:
                self.close()
        elif self._is_frame_overdue(now):
            self._disconnect(f"a frame was incomplete for {settings.request_timeout:g} s")
        elif http2.ping_pending:
            if silence > settings.ping_after + settings.ping_timeout:
                self.close()
        elif http2.streams:
            if silence > settings.ping_after:
                http2.ping()
                self._listener.schedule_flush(self)
        else:
            self._check_idle(idle - settings.idle_timeout)

    def _check_idle(self, overdue: float) -> None:
        if overdue > 0 and not self.http2.going_away:
            self.http2.send_goaway()
            self._listener.schedule_flush(self)
        elif overdue > LINGER:
            self.close()

    def _is_frame_overdue(self, now: float) -> bool:
        """Return True if a frame or header block has been incomplete for too long. Call this at each check."""
        if self._paused or self.http2.consumed != self._consumed or not self.http2.incomplete:
            self._consumed, self._progress_at = self.http2.consumed, now
        return now - self._progress_at > self._listener.settings.request_timeout

    def evict(self) -> None:
        """Implement `Holder.evict`, in the next turn: the connection may be receiving now."""
        reason = "the server is short of memory for peers without a token, and much of it waits for yours"
        self._listener.run_next_turn(partial(self._disconnect, reason))

    def _disconnect(self, reason: str) -> None:
        """Send the reason to the peer and close the connection. On a closed connection, do nothing."""
        if self.socket.fileno() < 0:
            return
        try:
            self.http2.disconnect(ErrorCodes.ENHANCE_YOUR_CALM, reason)
            self._give_up(reason)
        except Exception:  # noqa: BLE001 - see `fail`
            self.fail()

    def _give_up(self, reason: str) -> None:
        """Send what can be sent now and close the connection."""
        log.debug("connection closed", peer=self.peer, reason=reason)
        self.flush()
        self.close()

    def fail(self) -> None:
        """Log the exception that is being handled, and close the connection.

        Exceptions never leave a connection, so that no peer can stop the server.
        """
        self._log_failure()
        self.close()

    def _fail_soon(self) -> None:
        """Log the exception being handled. Close the connection in the next turn, because it may be receiving now."""
        self._log_failure()
        self._listener.run_next_turn(self.close)

    def _log_failure(self) -> None:
        log.error("a connection failed", peer=self.peer, traceback=traceback.format_exc())

    def close(self) -> None:
        """Close the socket and abort every open stream. On a closed connection, do nothing."""
        if self.socket.fileno() < 0:
            return
        self._listener.remove(self)
        self._listener.untrusted.hold(self, 0)
        self.socket.close()
        self.http2.connection_lost()
