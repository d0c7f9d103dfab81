"""The limit of registrations from one address, successful or not."""

from __future__ import annotations

import math

from arena.server.sessions.hourly import HOUR, HourlyAllowance
from arena.store.base.errors import Refused


class TooManyRegistrations(Refused):
    """Too many registrations from one address."""

    def __init__(self, registrations_per_address: int, wait: float) -> None:
        super().__init__(
            f"{registrations_per_address} registrations an hour are allowed from one address "
            "(registrations_per_address); "
            f"try again in {math.ceil(wait / 60)} min"
        )
        self.wait = wait


class Registrations:
    """The remaining registrations of each address."""

    def __init__(self, registrations_per_address: int) -> None:
        self._registrations_per_address = registrations_per_address
        self._allowance = HourlyAllowance(registrations_per_address / HOUR)

    def take(self, origin: str, now: float) -> None:
        """Count one more request to register. Raises: TooManyRegistrations."""
        if not self._allowance.take(origin, now):
            raise TooManyRegistrations(self._registrations_per_address, self._allowance.wait(origin, now))

    def give_back(self, origin: str) -> None:
        """Undo one `take`: the registration was invited."""
        self._allowance.give_back(origin)
