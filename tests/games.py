"""The registered games, grouped by the pieces that a test needs. An added game need not have all pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.house import HOUSE_BOTS, SEARCH_BOTS

SEARCHED: Final = (*SEARCH_BOTS,)
"""Names of the games with a house bot that searches."""

THOUGHT_ABOUT: Final = tuple(name for name, bots in HOUSE_BOTS.items() if len(bots) > 1)
"""Names of the games with a house bot that thinks."""


def nearest_seats(allowed: Sequence[int], wanted: int) -> int:
    """Return the table size nearest to the wanted one that a game allows."""
    return min(allowed, key=lambda seats: abs(seats - wanted))
