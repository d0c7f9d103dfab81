"""One stream of an HTTP/2 connection: its windows, and what waits until the peer takes it (RFC 9113, section 5.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias

from h2.errors import ErrorCodes

if TYPE_CHECKING:
    from arena.wire.http2 import Http2Connection

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

LARGEST_FRAME: Final = 1 << 14
"""Payload that everyone has to accept, and no larger one is ever sent or asked for."""
WINDOW: Final = (1 << 16) - 1
"""Bytes a peer may send on a stream before it is told to go on; the protocol's default, for streams and connections."""
GRANT: Final = 1 << 14
"""Bytes of its window that a peer gets back at once, or more."""
DATA: Final = 0
WINDOW_UPDATE: Final = 8

_frame: Final = Struct(">HBBBI").pack
_number: Final = Struct(">I").pack


def frame(size: int, kind: int, flags: int, number: int) -> bytes:
    """What stands before a payload of so many bytes."""
    return _frame(size >> 8, size & 255, kind, flags, number)


def window_update(number: int, size: int) -> bytes:
    """The frame that lets the peer send so many bytes more: on a stream, or with number 0 on the connection."""
    return frame(4, WINDOW_UPDATE, 0, number) + _number(size)


class Http2Stream:
    """One stream. What the peer does is told by the methods whose names begin with "on", for a subclass to fill."""

    def __init__(self, connection: Http2Connection, number: int) -> None:
        self.connection = connection
        self.number = number
        self.window = connection.first_window
        """Bytes the peer takes now."""
        self.credit = WINDOW
        """Bytes the peer may send."""
        self.ended = False
        """The peer has said that there is no more."""
        self._unsent = memoryview(b"")
        self._trailers: Headers | None = None
        self._ending_at = math.inf

    def on_open(self) -> None:
        """From now on it may be written to."""

    def on_data(self, data: bytes) -> None:
        """The peer sent something, if only padding. Whoever has taken it calls `grant`."""

    def on_end(self) -> None:
        """The peer sends no more."""

    def on_lost(self) -> None:
        """The stream is over, and not by `end`."""

    def on_left(self) -> None:
        """All that was written has left."""

    def open(self, headers: Headers) -> None:
        """Begins the response."""
        self.connection.send_headers(self.number, headers)

    def write(self, data: bytes) -> None:
        """Sends, or as much as the peer takes and the rest as soon as it does; all before must have left."""
        connection, size = self.connection, len(data)
        if size <= self.window and size <= connection.window and size <= LARGEST_FRAME:
            self.window -= size
            connection.window -= size
            connection.outgoing.append(frame(size, DATA, 0, self.number) + data)
            connection.leaving.append(self)
        else:
            self._unsent = memoryview(data)
            connection.stalled[self] = None
            connection.pump()
        connection.wake()

    def end(self, headers: Headers) -> None:
        """The last word, after all that was written; nothing is told of the stream from here on but `on_left`."""
        self._trailers = headers
        if not self._unsent:
            self._close()
        self.connection.wake()

    def reset(self, code: ErrorCodes = ErrorCodes.CANCEL) -> None:
        """Breaks off."""
        self.connection.drop(self, code)
        self.connection.wake()

    def grant(self) -> None:
        """All that came is taken: the peer may send as much again."""
        owed = WINDOW - self.credit
        if owed >= GRANT and not self.ended:
            self.credit = WINDOW
            self.connection.outgoing.append(window_update(self.number, owed))
            self.connection.wake()

    def linger(self, now: float, most: float) -> None:
        """Breaks off where the last word has waited so many seconds for the peer to take what comes before it."""
        if self._trailers is None:
            return
        self._ending_at = min(self._ending_at, now)
        if now - self._ending_at > most:
            self.reset()

    def move(self) -> bool:
        """Sends the next frame of what is unsent; False where the peer takes nothing."""
        connection = self.connection
        size = min(len(self._unsent), LARGEST_FRAME, self.window, connection.window)
        if size <= 0:
            return False
        self.window -= size
        connection.window -= size
        connection.outgoing.append(frame(size, DATA, 0, self.number))
        connection.outgoing.append(self._unsent[:size])
        connection.forgive(size >> 10)
        self._unsent = self._unsent[size:]
        if not self._unsent:
            del connection.stalled[self]
            connection.leaving.append(self)
            if self._trailers is not None:
                self._close()
        return True

    def _close(self) -> None:
        assert self._trailers is not None
        self.connection.send_headers(self.number, self._trailers, end=True)
        self.connection.drop(self, ErrorCodes.NO_ERROR)
