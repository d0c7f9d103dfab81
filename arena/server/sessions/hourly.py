"""Hourly allowances by key, for example the number of registrations per address."""

from __future__ import annotations

import math
from typing import Final

from arena.server.sessions.rate_limit import TokenBucket
from arena.store.base.errors import Refused

HOUR: Final = 3600.0
MOST_REMEMBERED: Final = 10_000
"""Number of keys above which keys with a full allowance are forgotten."""


class HourlyAllowance:
    """The remaining allowance of each key."""

    def __init__(self, rate: float) -> None:
        """Allow `rate` uses per second. Unused allowances accumulate for an hour. A rate of 0 allows no use."""
        self._rate = rate
        self._left: dict[str, TokenBucket] = {}

    def take(self, who: str, now: float) -> bool:
        """Count one more use, or return False if the allowance is used up."""
        if who not in self._left and len(self._left) >= MOST_REMEMBERED:
            self._left = {each: left for each, left in self._left.items() if not left.is_full(now)}
        return self._left.setdefault(who, TokenBucket(self._rate, HOUR)).take(1, now)

    def wait(self, who: str, now: float) -> int:
        """Return the number of whole seconds until a use is available; an hour if the rate is 0."""
        bucket = self._left.get(who)
        wait = 0.0 if bucket is None else bucket.wait(1, now)
        return int(HOUR) if math.isinf(wait) else math.ceil(wait)

    def give_back(self, who: str) -> None:
        """Undo one `take`."""
        if who in self._left:
            self._left[who].give(1)


class TooManyRegistrations(Refused):
    """There were too many registrations from one address."""

    def __init__(self, registrations_per_address: int, wait: float) -> None:
        super().__init__(
            f"{registrations_per_address} registrations an hour are allowed from one address "
            "(registrations_per_address); "
            f"try again in {math.ceil(wait / 60)} min"
        )
        self.wait = wait
