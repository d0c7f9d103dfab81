"""Points of Nullern: the value of a bid (N7), the cost of a Hupfer, and the server's fallback bid."""

from __future__ import annotations

from typing import Final

from engine.nullern.cards import HIGHEST_BID

HUPFER_COST: Final = 5
"""Points that every Hupfer costs at the end of the game (N7)."""


def _points(bid: int, tricks: int) -> int:
    if bid != tricks:
        return tricks
    return 10 + tricks if tricks else 20


POINTS: Final = tuple(
    tuple(_points(bid, tricks) for tricks in range(HIGHEST_BID + 1)) for bid in range(HIGHEST_BID + 1)
)
"""`POINTS[bid][tricks taken]`, without the cost of a Hupfer."""


def bid_nearest(hand_size: int, seats: int) -> int:
    """Return the bid nearest to hand size ÷ seats; of two equally near bids, the lower."""
    return min(range(hand_size + 1), key=lambda bid: (abs(bid * seats - hand_size), bid))
