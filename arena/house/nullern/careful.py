"""The careful house bot: a few rules of thumb, no memory of the cards that are gone.

It bids the number of its cards that look like tricks, takes tricks as cheaply as it can until it has them, and from
then on throws its highest cards under other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.house.content import version
from arena.house.nullern.situation import HIGHEST_PLAIN, Situation, read
from engine.game import SeatView
from engine.nullern import NullernView
from engine.nullern.cards import BID

_MARGIN: Final = 0.1
"""What may be missing to the next trick for it to be bid."""


@dataclass(frozen=True, slots=True)
class CarefulBot:
    """Plays for its bid, trick by trick."""

    game: str = "nullern"
    name: str = "house-careful"
    version: str = version(__name__, read.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """What the rules of thumb say; chance has no part in it."""
        assert isinstance(view, NullernView)
        situation = read(view)
        if legal[0] >= BID:
            looks = sum(_looks(situation.ranks[card], view.seats) for card in view.hand)
            return legal[int(looks + _MARGIN)]
        return _play(situation, legal)


def _looks(rank: int, seats: int) -> float:
    """How often a card takes a trick, by its looks: 0 to 1."""
    if rank > HIGHEST_PLAIN:
        return 0.55 + 0.02 * (rank - HIGHEST_PLAIN)
    return float((rank / HIGHEST_PLAIN) ** (2 * (seats - 1)))


def _play(situation: Situation, legal: Sequence[int]) -> int:
    """A card that takes the trick if it is of use, else the highest that does not."""

    def rank(card: int) -> int:
        return situation.ranks[card]

    last = situation.eager_to_come + situation.content_to_come == 0
    taking = [card for card in legal if rank(card) > situation.ahead]
    losing = [card for card in legal if rank(card) <= situation.ahead]
    if situation.eager:
        if not taking:
            return min(losing, key=rank)
        return min(taking, key=rank) if last else max(taking, key=rank)
    if losing:
        return max(losing, key=rank)
    return max(taking, key=rank) if last else min(taking, key=rank)
