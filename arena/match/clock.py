"""The clock of one seat: a soft limit for each decision and a time bank for the whole match.

It runs only between `start` and `stop` or `pause`; time beyond the soft limit is taken from the bank. It never reads
the time: every method takes the instant.
"""

from __future__ import annotations

from typing import Final

from arena.match.inputs import Instant
from arena.match.policy import Policy

NEVER: Final = Instant((1 << 62) - 1)
"""Deadline that never comes, later than any instant. Not larger, because compiled code compares big integers slowly."""


class Clock:
    """Time left for one seat. All times are microseconds of the match."""

    __slots__ = ("_policy", "bank", "due", "soft", "started")

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.soft = 2 * policy.soft_limit
        """Soft limit left for the open or next decision when the clock last stopped; doubled for the first decision."""
        self.bank = policy.bank
        """Bank left when the clock last stopped."""
        self.started: int | None = None
        """Instant from which the clock runs; None while it is stopped."""
        self.due: int = NEVER
        """Instant at which the time runs out: an answer at this instant is late."""

    def start(self, now: Instant, lag: int = 0) -> None:
        """Start the clock `lag` microseconds from now, when the question reaches the bot. No effect while it runs."""
        if self.started is None:
            self.started = now + lag
            self.due = self.started + self.soft + self.bank

    def pause(self, now: Instant) -> None:
        """Stop the clock in the middle of a decision, until the next start."""
        self.soft, self.bank = self.left(now)
        self.started = None
        self.due = NEVER

    def left(self, now: Instant) -> tuple[int, int]:
        """Return the microseconds left of the soft limit and of the bank."""
        if self.started is None:
            return self.soft, self.bank
        soft = self.soft - max(0, now - self.started)
        return (soft, self.bank) if soft >= 0 else (0, max(0, self.bank + soft))

    def stop(self, now: Instant) -> None:
        """Stop the clock because the decision is made, and subtract the time beyond the soft limit from the bank."""
        if self.started is not None:
            over = now - self.started - self.soft
            if over > 0:
                self.bank = max(0, self.bank - over)
            self.started = None
            self.due = NEVER
        self.soft = self._policy.soft_limit
