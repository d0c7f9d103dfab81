# Compiled: every decision passes through here.
"""One stream of an HTTP/2 connection: its flow-control windows and the data that waits for them (RFC 9113, 5.2, 6.9).

This module does not depend on gRPC. A subclass interprets the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias

from h2.errors import ErrorCodes

if TYPE_CHECKING:
    from trio_grpc.http2.http2 import Http2Connection

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

MAX_FRAME_SIZE: Final = 1 << 14
"""Maximum payload in bytes of a frame sent or accepted. Every peer must accept this size (RFC 9113, 4.2)."""
WINDOW: Final = (1 << 16) - 1
"""Initial flow-control window of streams and connections, in bytes: the default (RFC 9113, 6.9.2)."""
WINDOW_UPDATE_THRESHOLD: Final = 1 << 14
"""Minimum number of handled bytes for which a WINDOW_UPDATE is sent to the peer."""
DATA: Final = 0
WINDOW_UPDATE: Final = 8

_frame_header: Final = Struct(">HBBBI").pack
_uint32: Final = Struct(">I").pack


def frame_header(size: int, kind: int, flags: int, stream_id: int) -> bytes:
    """Return the nine bytes before a payload of `size` bytes (RFC 9113, 4.1)."""
    return _frame_header(size >> 8, size & 255, kind, flags, stream_id)


def window_update(stream_id: int, size: int) -> bytes:
    """Return a WINDOW_UPDATE frame that allows the peer `size` more bytes. Stream 0 is the whole connection."""
    return frame_header(4, WINDOW_UPDATE, 0, stream_id) + _uint32(size)


def do_nothing() -> None:
    """Do nothing: the default callback."""


class Http2Stream:
    """One stream. `Http2Connection` reports the peer's actions through the methods `on_…`, which a subclass defines."""

    def __init__(self, connection: Http2Connection, stream_id: int) -> None:
        self.connection = connection
        self.stream_id = stream_id
        self.window = connection.initial_window
        """Number of bytes that the peer accepts on this stream. It can be negative after the peer has lowered its
        initial window.
        """
        self.receive_window = WINDOW
        """Number of bytes that the peer may still send on this stream."""
        self.ended = False
        """True if the peer has half-closed the stream (END_STREAM)."""
        self._unsent = memoryview(b"")
        self._trailers: Headers | None = None
        self._ending_since = math.inf

    @property
    def unsent_size(self) -> int:
        """Number of written bytes that wait for a flow-control window."""
        return len(self._unsent)

    def on_open(self) -> None:
        """Handle the opening of the stream. From now on data may be written to it."""

    def on_data(self, data: bytes) -> None:
        """Handle the content of a DATA frame, which is empty if the frame only contains padding.

        Call `return_window` once the data is used.
        """

    def on_end(self) -> None:
        """Handle the peer's half-close: it sends no more data."""

    def on_lost(self) -> None:
        """Handle the loss of the stream: the peer has reset it or violated the protocol, or the
        connection is closed.
        """

    def on_sent(self) -> None:
        """Continue after everything written so far has been passed to the socket."""

    def open(self, headers: Headers) -> None:
        """Send the response's HEADERS frame."""
        self.connection.send_headers(self.stream_id, headers)

    def write(self, data: bytes) -> None:
        """Send data as far as both flow-control windows allow, and the rest when they open.

        Must not be called again before `on_sent`.
        """
        connection, size = self.connection, len(data)
        if size <= self.window and size <= connection.window and size <= MAX_FRAME_SIZE:
            self.window -= size
            connection.window -= size
            connection.outgoing.append(frame_header(size, DATA, 0, self.stream_id) + data)
            connection.fully_queued.append(self)
        else:
            self._unsent = memoryview(data)
            connection.stalled[self] = None
            connection.send_stalled()
        connection.request_flush()

    def end(self, trailers: Headers) -> None:
        """Send trailers (or all headers of a response without data) after everything written, and close the stream.

        After this call only `on_sent` is called.
        """
        self._trailers = trailers
        if not self._unsent:
            self._send_trailers()
        self.connection.request_flush()

    def return_window(self) -> None:
        """Allow the peer to send as many bytes as have been handled. Small amounts are added up first."""
        owed = WINDOW - self.receive_window
        if owed >= WINDOW_UPDATE_THRESHOLD and not self.ended:
            self.receive_window = WINDOW
            self.connection.outgoing.append(window_update(self.stream_id, owed))
            self.connection.request_flush()

    def check_timeouts(self, now: float, linger: float) -> None:
        """If trailers have waited for unsent data longer than `linger` seconds, drop the data and send the trailers.

        Trailers need no window, so a peer that reads later still receives the reason for the call's end.
        """
        if self._trailers is None:
            return
        self._ending_since = min(self._ending_since, now)
        if now - self._ending_since > linger:
            self._unsent = memoryview(b"")
            del self.connection.stalled[self]
            self._send_trailers()
            self.connection.request_flush()

    def send_next_frame(self) -> bool:
        """Send one DATA frame of the unsent data; return False if a flow-control window is exhausted."""
        connection = self.connection
        size = min(len(self._unsent), MAX_FRAME_SIZE, self.window, connection.window)
        if size <= 0:
            return False
        self.window -= size
        connection.window -= size
        connection.outgoing.append(frame_header(size, DATA, 0, self.stream_id))
        connection.outgoing.append(self._unsent[:size])
        connection.refund_useless_frames(size >> 10)
        self._unsent = self._unsent[size:]
        if not self._unsent:
            del connection.stalled[self]
            connection.fully_queued.append(self)
            if self._trailers is not None:
                self._send_trailers()
        return True

    def _send_trailers(self) -> None:
        assert self._trailers is not None
        self.connection.send_headers(self.stream_id, self._trailers, end=True)
        self.connection.close_stream(self, ErrorCodes.NO_ERROR)
