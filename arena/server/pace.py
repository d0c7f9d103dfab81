"""How fast a bot may talk: allowances that fill with time, and what a stream's messages take from them.

What a bot was asked for it may say at any speed, so the fastest bot never meets a limit by playing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from arena.server.messages import Closed, Reason

if TYPE_CHECKING:
    from arena.server.limits import Limits
    from arena.server.messages import Said

THINGS_SAVED: Final = 200.0
"""Seconds for which things not asked for are saved up: a bot that was away for long has a lot to say."""
TRAFFIC_SAVED: Final = 16.0
"""The same of bytes."""


class Allowance:
    """So much a second, saved up for so many seconds; full in the beginning."""

    def __init__(self, rate: float, saved: float) -> None:
        self._rate = rate
        self._most = self._left = rate * saved
        self._at = -math.inf

    def take(self, amount: float, now: float) -> bool:
        """Whether so much is left, which then is taken."""
        if now > self._at:
            self._left = min(self._most, self._left + self._rate * (now - self._at))
            self._at = now
        if amount > self._left:
            return False
        self._left -= amount
        return True

    def give(self, amount: float) -> None:
        """Adds to it, as far as there is room."""
        self._left = min(self._most, self._left + amount)


class Pace:
    """What a bot may still say on its stream."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._things = Allowance(limits.things, THINGS_SAVED)
        self._traffic = Allowance(limits.traffic, TRAFFIC_SAVED)

    def asked(self, things: int) -> None:
        """The bot was asked for so many things."""
        self._things.give(things)

    def heard(self, said: Said) -> None:
        """The bot said something; `Closed` when that was too much."""
        things = max(1, len(said.ready) + len(said.answers) + len(said.declined))
        if not self._things.take(things, said.at):
            much = f"more than {self._limits.things:g} answers and other things a second that nobody asked for"
            raise Closed(Reason.FLOODING, f"flooding: {much}; answer each decision once, and say nothing else often")
        if not self._traffic.take(said.size, said.at):
            much = f"more than {self._limits.traffic / 1024:g} KiB a second"
            raise Closed(Reason.FLOODING, f"flooding: {much}; messages hold what the protocol asks for, and no more")
