"""Framing of messages to and from helper processes: 4 bytes of length, big-endian, then a pickle.

Both ends run the same program as the same user and exchange its own types, including functions. Therefore the format is
pickle. Unpickling trusts the sender, so use this only for sockets whose other end this program has started itself.
"""

from __future__ import annotations

import pickle
import select
import socket
from collections.abc import Iterable
from typing import Any, Final

HEAD: Final = 4
"""Bytes of the length field."""
MOST: Final = 1 << 26
"""Maximum number of bytes of a message: far more than any real message, far less than would exhaust memory."""
PIECE: Final = 1 << 16
"""Maximum number of bytes read at once. Each read of more than 128 KiB would allocate and free its memory in the
kernel."""


class FrameTooLarge(Exception):  # noqa: N818 - the name says what is the matter
    """Error for a message that is too large for a frame.

    On receipt, it probably means that the bytes are no frames at all.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"a message of {size} bytes is larger than the {MOST} that a frame may have")


def packed(message: object) -> bytes:
    """Return the frame of a message. Raises: FrameTooLarge."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(content) > MOST:
        raise FrameTooLarge(len(content))
    return len(content).to_bytes(HEAD, "big") + content


class Frames:
    """A parser of a stream of frames."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def take(self, piece: bytes) -> list[Any]:
        """Add bytes. Return the messages that they complete. After FrameTooLarge the stream cannot be used any more."""
        rest, messages, start = self._rest, list[Any](), 0
        rest += piece
        while len(rest) >= start + HEAD:
            content = start + HEAD
            size = int.from_bytes(rest[start:content], "big")
            if size > MOST:
                raise FrameTooLarge(size)
            if len(rest) < content + size:
                break
            start = content + size
            messages.append(pickle.loads(rest[content:start]))  # noqa: S301 - from our own process
        del rest[:start]
        return messages


class BlockingChannel:
    """One end of a blocking socket between parent and helper. Methods raise ConnectionError if the other end has
    ended.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line: Final = line
        self._frames: Final = Frames()

    def receive(self) -> list[Any]:
        """Wait for the next messages and return them. Return an empty list if the other end is closed or has finished
        sending.
        """
        while piece := self.line.recv(PIECE):
            if messages := self._frames.take(piece):
                return messages
        return []

    def waiting(self) -> bool:
        """Return True if `receive` would return at once, with messages or at the end."""
        return bool(select.select((self.line,), (), (), 0)[0])

    def send(self, messages: Iterable[object]) -> None:
        """Send messages together; block until the socket has accepted them."""
        self.line.sendall(b"".join(map(packed, messages)))
