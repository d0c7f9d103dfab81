"""The rule by which a ladder bounds what guests count together: every published ladder names its own.

It does not import NumPy, which the server's own process never loads.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Quota(NamedTuple):
    """The largest number of matches that two guests count together, however often they meet; 0 for no limit."""

    day: int = 0
    """The limit of one day in UTC."""
    week: int = 0
    """The limit of one week in UTC, from Monday on, applied to the sum of its days."""
    young_days: int = 0
    """Days from a bot's first result in which it is young: for an older one that mostly meets older ones, all young
    ones count together as one bot. 0 for none."""

    @property
    def bounds(self) -> bool:
        """True if there is any bound."""
        return bool(self.day or self.week)


NO_QUOTA: Final = Quota()
