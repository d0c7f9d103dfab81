"""Boards: parts of pages that change. Each is rendered once for all viewers and sent as server-sent events.

A board is a list of rows with keys. A viewer first gets all rows, then the rows that changed. A slow viewer skips
intermediate states, so it needs no more memory than one message. All viewers wait for a common event, so timing is done
once for all of them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Final, TypeAlias

import structlog
import trio

from arena.web.reading.reader import Missing, Unavailable

log = structlog.get_logger("arena.web")

Rows: TypeAlias = Mapping[str, str]
"""The HTML of each row by its key, in order."""

INTERVAL: Final = 1.0
"""Minimum number of seconds between two messages to a viewer."""
RETRY: Final = 5000
"""Milliseconds after which a browser reconnects."""
MOST_VIEWERS: Final = 2000
MOST_OF_ADDRESS: Final = 50
"""Maximum numbers of open streams: in total (less if fewer files may be open), and per remote address."""
SILENCE: Final = 15.0
"""Seconds without changes before a comment is sent, so that proxies do not close the stream."""


class Board:
    """A part of a page that changes."""

    def __init__(self, render: Callable[[], Awaitable[Rows]], silence: Callable[[], str] = str) -> None:
        """`silence` returns the reasons why rows are missing or old; an empty string if there are none."""
        self._render = render
        self._silence = silence
        self._rows: dict[str, str] = {}
        self._state: dict[str, str] = {}
        self._version = 0
        self._whole = self._changes = b""
        self._changed = trio.Event()
        self._lock = trio.Lock()
        self.viewers = 0
        self.final = False
        """True if the board will not change again, because its match has ended."""

    async def refresh(self, *, first: bool = False) -> None:
        """Render the board. Wake the viewers if it has changed.

        With `first`, do nothing if the board has been rendered before.
        """
        async with self._lock:
            if first and self._version:
                return
            try:
                rows = dict(await self._render())
            except (Missing, Unavailable):
                return  # The next refresh tries again.
            except Exception:
                log.exception("a part of a page was not rendered")  # Logged like an error in a page.
                return
            state = {"state": why} if (why := self._silence()) else {}
            if (rows, list(rows), state) == (self._rows, list(self._rows), self._state) and self._version:
                return
            changed = {key: html for key, html in rows.items() if self._rows.get(key) != html}
            self._changes = _message({"order": list(rows), "rows": changed, **state})
            self._rows, self._state, self._whole = rows, state, b""
            self._version += 1
            self.wake()

    def wake(self) -> None:
        """Wake the viewers. Each sends the changes, or an empty comment if there are none."""
        self._changed.set()
        self._changed = trio.Event()

    async def messages(self) -> AsyncGenerator[bytes, None]:
        """Yield messages for a viewer: the current state, then changes, or an empty comment if there are none."""
        self.viewers += 1
        try:
            await self.refresh(first=self.viewers > 1)
            known = -1
            while True:
                if known == self._version:
                    await self._changed.wait()
                if known == self._version:
                    yield b":\n\n"
                    continue
                one_behind, known = known == self._version - 1, self._version
                if not self._whole and not one_behind:
                    self._whole = _message({"order": list(self._rows), "rows": self._rows, **self._state})
                yield self._changes if one_behind else self._whole
        finally:
            self.viewers -= 1


def _message(content: object) -> bytes:
    return b"event: rows\ndata: " + json.dumps(content, separators=(",", ":")).encode() + b"\n\n"
