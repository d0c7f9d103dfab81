"""How many registrations may be asked for from one address, whatever comes of them."""

from __future__ import annotations

import math
from typing import Final

from arena.server.sessions.rate_limit import TokenBucket
from arena.store.errors import Refused

HOUR: Final = 3600.0
MOST_REMEMBERED: Final = 10_000
"""Addresses remembered before those with all their registrations left are forgotten."""


class TooManyRegistrations(Refused):
    """More registrations were asked for from an address than are allowed."""

    def __init__(self, registrations_per_address: int, wait: float) -> None:
        super().__init__(
            f"{registrations_per_address} registrations an hour are allowed from one address "
            "(registrations_per_address); "
            f"try again in {math.ceil(wait / 60)} min"
        )


class Registrations:
    """What each address has left."""

    def __init__(self, registrations_per_address: int) -> None:
        self._registrations_per_address = registrations_per_address
        self._left: dict[str, TokenBucket] = {}

    def take(self, origin: str, now: float) -> None:
        """Count one more request to register; TooManyRegistrations."""
        if origin not in self._left and len(self._left) >= MOST_REMEMBERED:
            self._left = {origin: left for origin, left in self._left.items() if not left.is_full(now)}
        left = self._left.setdefault(origin, TokenBucket(self._registrations_per_address / HOUR, HOUR))
        if not left.take(1, now):
            raise TooManyRegistrations(self._registrations_per_address, HOUR / self._registrations_per_address)

    def give_back(self, origin: str) -> None:
        """Take back what was counted: the registration was invited."""
        if origin in self._left:
            self._left[origin].give(1)
