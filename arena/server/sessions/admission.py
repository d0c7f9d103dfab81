"""Admission: the limits of open streams for an owner's bots, and of a bot's connection rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from arena.server.sessions.messages import Closed, Reason
from arena.server.sessions.rate_limit import TokenBucket

if TYPE_CHECKING:
    from arena.server.sessions.limits import Limits
    from arena.store.bots.bots import Bot

CONNECTS_SAVED: Final = 60.0
"""Seconds for which connections of a bot are saved up."""


class Admission:
    """Counts open streams from the check of the token on."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._streams: Counter[str] = Counter()  # by owner
        self._connects: dict[int, TokenBucket] = {}  # by bot

    @contextmanager
    def opened(self, bot: Bot, now: float) -> Iterator[None]:
        """Admit a stream of a bot for the block.

        Raises: Closed: it is one too many.
        """
        connects = self._connects.setdefault(bot.id, TokenBucket(self._limits.connect_rate, CONNECTS_SAVED))
        if not connects.take(1, now):
            allowed = f"{self._limits.connect_rate:g} times a second is allowed (connect_rate)"
            text = f"flooding: {bot.name} connects too often; wait, {allowed}"
            raise Closed(Reason.FLOODING, text, connects.wait(1, now))
        if self._streams[bot.owner] >= self._limits.streams_per_owner:
            streams = f"{self._limits.streams_per_owner} streams open (streams_per_owner)"
            text = f"the bots of {bot.owner} have {streams}; close one and come back"
            raise Closed(Reason.FLOODING, text)
        self._streams[bot.owner] += 1
        try:
            yield
        finally:
            self._streams[bot.owner] -= 1
            if not self._streams[bot.owner]:
                del self._streams[bot.owner]
