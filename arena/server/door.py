"""Who may open another stream: so many at a time for the bots of one owner, and no bot too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from arena.server.messages import Closed, Reason
from arena.server.pace import Allowance

if TYPE_CHECKING:
    from arena.server.limits import Limits
    from arena.store.bots import Bot

COMINGS_SAVED: Final = 60.0
"""Seconds for which connections of a bot are saved up."""


class Door:
    """The streams that are open, from the token on."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._streams: Counter[str] = Counter()  # by owner
        self._comings: dict[int, Allowance] = {}  # by bot

    @contextmanager
    def opened(self, bot: Bot, now: float) -> Iterator[None]:
        """A stream of a bot, for the block; `Closed` when it is one too many."""
        comings = self._comings.setdefault(bot.id, Allowance(self._limits.comings, COMINGS_SAVED))
        if not comings.take(1, now):
            text = f"flooding: {bot.name} connects too often; wait, {self._limits.comings:g} times a second is allowed"
            raise Closed(Reason.FLOODING, text)
        if self._streams[bot.owner] >= self._limits.streams:
            text = f"the bots of {bot.owner} have {self._limits.streams} streams open; close one and come back"
            raise Closed(Reason.FLOODING, text)
        self._streams[bot.owner] += 1
        try:
            yield
        finally:
            self._streams[bot.owner] -= 1
            if not self._streams[bot.owner]:
                del self._streams[bot.owner]
