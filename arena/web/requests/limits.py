"""The request limit of one address: a token bucket for each."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from arena.transport.connection_limits import LOOPBACK, UNIX, Origin
from arena.web.caches import LruCache

MOST: Final = 100_000
"""Addresses that are remembered at most; the one that has asked for nothing for the longest is forgotten first."""
SAVED: Final = 10.0
"""Seconds for which what an address does not ask for is saved up."""


class AddressLimit:
    """The remaining requests of each address, stored as the instant at which its bucket is full again."""

    def __init__(self, rate: float, most: int = MOST, clock: Callable[[], float] = monotonic) -> None:
        """Allow `rate` requests a second, saved up for `SAVED` seconds; 0 allows any number."""
        self._each = 1 / rate if rate else 0.0
        """Seconds that a request costs."""
        self._clock = clock
        self._full_at: LruCache[Origin, float] = LruCache(most)

    def __len__(self) -> int:
        return len(self._full_at)

    def wait(self, origin: Origin) -> float:
        """Count a request; 0, or the seconds after which to ask again: then it is to be refused, and was not counted.

        Programs of this machine have no limit, as behind them there may be a proxy with many readers that is not named.
        """
        if not self._each or origin in (LOOPBACK, UNIX):
            return 0.0
        now = self._clock()
        full_at = max(self._full_at.get(origin, now), now)
        allowed = full_at + self._each <= now + SAVED
        self._full_at[origin] = full_at + self._each if allowed else full_at
        return 0.0 if allowed else full_at + self._each - now - SAVED
