"""The quota of pairs as a rule; every published ladder stores its own.

This module does not import NumPy, which the server's own process never loads.
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
    """Days from a bot's first result on which it is young. For an older bot that mostly meets older ones, all young
    ones count as one bot. 0 for none."""

    @property
    def bounds(self) -> bool:
        """True if any limit is set."""
        return bool(self.day or self.week)


NO_QUOTA: Final = Quota()
