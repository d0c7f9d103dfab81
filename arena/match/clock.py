"""The time one seat has: a soft limit for each decision and a bank for the whole match.

It runs only between `start` and `stop` or `pause`, and the bank pays for what goes over the soft limit. It does not
know the time: every method is told the instant.
"""

from __future__ import annotations

from typing import Final

from arena.match.inputs import Instant
from arena.match.policy import Policy

NEVER: Final = Instant((1 << 62) - 1)
"""When a clock that does not run falls: later than any instant. Compiled code compares larger numbers slowly."""


class Clock:
    """The clock of one seat."""

    __slots__ = ("_policy", "bank", "due", "soft", "started")

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.soft = 2 * policy.soft_limit
        """The soft limit of the decision that is open or comes next; doubled for the first."""
        self.bank = policy.bank
        """What was left in the bank when the clock last stood."""
        self.started: int | None = None
        self.due: int = NEVER
        """When it falls: from this instant on it is too late."""

    def start(self, now: Instant, lag: int = 0) -> None:
        """The decision is put, to arrive after `lag`. A clock that runs goes on as it was."""
        if self.started is None:
            self.started = now + lag
            self.due = self.started + self.soft + self.bank

    def pause(self, now: Instant) -> None:
        """Stands still in the middle of a decision, until the next start."""
        self.soft, self.bank = self.left(now)
        self.started = None
        self.due = NEVER

    def left(self, now: Instant) -> tuple[int, int]:
        """Microseconds left of the soft limit and of the bank."""
        if self.started is None:
            return self.soft, self.bank
        soft = self.soft - max(0, now - self.started)
        return (soft, self.bank) if soft >= 0 else (0, max(0, self.bank + soft))

    def stop(self, now: Instant) -> None:
        """The decision is made. What it took over the soft limit leaves the bank."""
        if self.started is not None:
            over = now - self.started - self.soft
            if over > 0:
                self.bank = max(0, self.bank - over)
            self.started = None
            self.due = NEVER
        self.soft = self._policy.soft_limit
