"""Points of 6th Sense: a prediction's worth (S14, S16), places (S15), and the dull prediction the server makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from engine.sixth_sense.cards import CARDS

_NOVICE: Final = (6, 4, 3, 2, 1)


@cache
def points(card: int, tricks: int, novice: bool) -> int:
    """The points of a prediction card with so many tricks taken."""
    distance = min(abs(value - tricks) for value in CARDS[card].values)
    if novice:
        return _NOVICE[distance] if distance < len(_NOVICE) else 0
    return tricks if distance == 0 else -distance


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """Places by seat: one more than the seats with a higher score (S15)."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def prediction_nearest(hand_size: int, seats: int, cards: Sequence[int]) -> int:
    """The card nearest to hand size ÷ seats; of two as near the lower value, then the first card."""
    return min((abs(value * seats - hand_size), value, card) for card in cards for value in CARDS[card].values)[2]
