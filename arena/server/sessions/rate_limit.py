# Compiled: every decision comes by here.
"""Token buckets that limit a bot's messages: they fill with time, and each message takes from them.

What a bot was asked for it may say at any speed, so the fastest bot never meets a limit by playing.
"""

from __future__ import annotations

import math
from typing import Final

UNSOLICITED_SAVED: Final = 200.0
"""Seconds for which things not asked for are saved up: a bot that was away for long has a lot to say."""
BYTES_SAVED: Final = 16.0
"""Seconds for which bytes are saved up."""


class TokenBucket:
    """An allowance of `rate` a second, saved up for at most `saved` seconds; full in the beginning."""

    def __init__(self, rate: float, saved: float) -> None:
        self._rate = rate
        self._most = self._left = rate * saved
        self._at = -math.inf

    def take(self, amount: float, now: float) -> bool:
        """Take an amount; False, and nothing is taken, where less is left."""
        if now > self._at:
            self._left = min(self._most, self._left + self._rate * (now - self._at))
            self._at = now
        if amount > self._left:
            return False
        self._left -= amount
        return True

    def wait(self, amount: float, now: float) -> float:
        """Return the seconds until so much is there; infinite where that never is."""
        self.take(0, now)
        return max(0.0, amount - self._left) / self._rate if amount <= self._most else math.inf

    def is_full(self, now: float) -> bool:
        """Return whether as much is saved up as can be."""
        self.take(0, now)
        return self._left >= self._most

    def give(self, amount: float) -> None:
        """Add an amount, as far as there is room."""
        self._left = min(self._most, self._left + amount)


class RateLimit:
    """The remaining budget of a bot's stream."""

    def __init__(self, unsolicited_rate: float, byte_rate: float) -> None:
        """Allow so many things that nobody asked for, and so many bytes, a second."""
        self._unsolicited_rate = unsolicited_rate
        self._byte_rate = byte_rate
        self._unsolicited = TokenBucket(unsolicited_rate, UNSOLICITED_SAVED)
        self._bytes = TokenBucket(byte_rate, BYTES_SAVED)

    def asked(self, things: int) -> None:
        """Allow the answers to so many things that the bot was asked for."""
        self._unsolicited.give(things)

    def exceeded(self, things: int, size: int, at: float) -> str:
        """Count a message of `size` bytes that says so many things; which limit it breaks, in words, or nothing."""
        if not self._unsolicited.take(max(1, things), at):
            much = f"more than {self._unsolicited_rate:g} answers and other things a second that nobody asked for"
            return f"flooding: {much} (unsolicited_rate); answer each decision once, and say nothing else often"
        if not self._bytes.take(size, at):
            much = f"more than {self._byte_rate / 1024:g} KiB a second (byte_rate)"
            return f"flooding: {much}; messages hold what the protocol asks for, and no more"
        return ""
