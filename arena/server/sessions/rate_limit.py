# Compiled: every decision passes through here.
"""Token buckets that limit a bot's messages. They fill over time, and each message uses part of their content.

Answers to questions cost nothing, so fast play never meets a limit.
"""

from __future__ import annotations

import math
from typing import Final

UNSOLICITED_SAVED: Final = 200.0
"""Number of seconds for which the allowance of unsolicited messages accumulates. A bot that returns after a long time
has many to send.
"""
BYTES_SAVED: Final = 16.0
"""Number of seconds for which the allowance of bytes accumulates."""


class TokenBucket:
    """An allowance of `rate` per second that accumulates for at most `saved` seconds. It is full at the start."""

    def __init__(self, rate: float, saved: float) -> None:
        self._rate = rate
        self._most = self._left = rate * saved
        self._at = -math.inf

    def take(self, amount: float, now: float) -> bool:
        """Take an amount. If the bucket contains less, take nothing and return False."""
        if now > self._at:
            self._left = min(self._most, self._left + self._rate * (now - self._at))
            self._at = now
        if amount > self._left:
            return False
        self._left -= amount
        return True

    def wait(self, amount: float, now: float) -> float:
        """Return the number of seconds until an amount is available; infinite if it never will be."""
        self.take(0, now)
        return max(0.0, amount - self._left) / self._rate if amount <= self._most else math.inf

    def is_full(self, now: float) -> bool:
        """Return whether the bucket is full."""
        self.take(0, now)
        return self._left >= self._most

    def give(self, amount: float) -> None:
        """Add an amount, up to the limit."""
        self._left = min(self._most, self._left + amount)


class RateLimit:
    """The remaining budget of a bot's stream."""

    def __init__(self, unsolicited_rate: float, byte_rate: float) -> None:
        """Allow unsolicited messages and bytes at the given rates per second."""
        self._unsolicited_rate = unsolicited_rate
        self._byte_rate = byte_rate
        self._unsolicited = TokenBucket(unsolicited_rate, UNSOLICITED_SAVED)
        self._bytes = TokenBucket(byte_rate, BYTES_SAVED)

    def asked(self, things: int) -> None:
        """Allow answers to the given number of questions."""
        self._unsolicited.give(things)

    def exceeded(self, things: int, size: int, at: float) -> str:
        """Count a message of `size` bytes with `things` items. Return a description of the exceeded limit, or ""."""
        if not self._unsolicited.take(max(1, things), at):
            much = f"more than {self._unsolicited_rate:g} answers and other things a second that nobody asked for"
            return f"flooding: {much} (unsolicited_rate); answer each decision once, and say nothing else often"
        if not self._bytes.take(size, at):
            much = f"more than {self._byte_rate / 1024:g} KiB a second (byte_rate)"
            return f"flooding: {much}; messages hold what the protocol asks for, and no more"
        return ""
