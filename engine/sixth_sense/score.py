"""Points of 6th Sense: the value of a prediction (S14, S16), and the server's fallback prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.sixth_sense.cards import CARDS

_MOST_TRICKS: Final = 28
"""Maximum number of tricks that can count for a seat: fourteen, each doubled (S13)."""
_NOVICE: Final = (6, 4, 3, 2, 1)


def _points(values: tuple[int, ...], tricks: int, novice: bool) -> int:
    distance = min(abs(value - tricks) for value in values)
    if novice:
        return _NOVICE[distance] if distance < len(_NOVICE) else 0
    return tricks if distance == 0 else -distance


POINTS: Final = tuple(
    tuple(tuple(_points(card.values, tricks, novice) for tricks in range(_MOST_TRICKS + 1)) for card in CARDS)
    for novice in (False, True)
)
"""`POINTS[novice][prediction card][tricks taken]`."""


def prediction_nearest(hand_size: int, seats: int, cards: Sequence[int]) -> int:
    """Return the card nearest to hand size ÷ seats. Ties go to the lower value, then to the first card."""
    return min((abs(value * seats - hand_size), value, card) for card in cards for value in CARDS[card].values)[2]
