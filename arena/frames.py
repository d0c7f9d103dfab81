"""Messages between processes of the same program: a frame is its length as 4 bytes, big-endian, and a pickle.

Only for lines whose other end this program has started itself: whoever unpickles trusts whom it hears.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, Final

HEAD: Final = 4
"""Bytes of a frame's length."""


def packed(message: object) -> bytes:
    """A frame."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(content).to_bytes(HEAD, "big") + content


class Frames:
    """What came in so far, cut into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes) -> Iterator[Any]:
        """The messages that are complete with the next piece."""
        self._rest += piece
        while len(self._rest) >= HEAD and len(self._rest) >= (end := HEAD + int.from_bytes(self._rest[:HEAD], "big")):
            frame, self._rest = self._rest[HEAD:end], self._rest[end:]
            yield pickle.loads(frame)  # noqa: S301 - from our own process
