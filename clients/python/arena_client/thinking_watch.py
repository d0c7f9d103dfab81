"""A watch that reports a bot that thinks too long.

It runs in the network's thread, because the bot's thread is busy.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena_client.async_caller import AsyncCaller
    from arena_client.caller import Caller

_log = logging.getLogger("arena_client")

LONG = 10.0
"""Number of seconds of thinking after which the watch reports the bot. The pause before each further report doubles."""
LONGEST_PAUSE = 60.0
"""Maximum pause before a further report, in seconds."""
LOOK = 1.0
"""Number of seconds between two checks."""


class ThinkingWatch:
    """The watch over one bot. `begin` and `end` are called in the network's thread."""

    def __init__(self, caller: Caller | AsyncCaller) -> None:
        self._caller = caller
        self._pause = LONG
        self._next = 0.0
        """The earliest time of the next report, in seconds of `time.monotonic`."""
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Start checking at intervals."""
        self._timer = asyncio.get_running_loop().call_later(LOOK, self.begin)
        now = time.monotonic()
        if now >= self._next and (thought := self._caller.long_thought(LONG)):
            self._next, self._pause = now + self._pause, min(2 * self._pause, LONGEST_PAUSE)
            _log.warning("%s", thought)

    def end(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
