"""The careful house bot: a few rules of thumb, no memory of the cards that are gone.

It adds up how strong its cards look, predicts about that many tricks, then takes tricks as cheaply as it can until it
has them, and from then on throws its strongest cards under other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.house.content import version
from arena.house.sixth_sense.situation import ACTIONS, CARD_OF, CARDS, Situation, trump_of
from engine.game import SeatView
from engine.sixth_sense import SixthSenseView


@dataclass(frozen=True, slots=True)
class CarefulBot:
    """Plays for its prediction, trick by trick."""

    game: str = "sixth_sense"
    name: str = "house-careful"
    version: str = version(__name__, trump_of.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """What the rules of thumb say; chance has no part in it."""
        assert isinstance(view, SixthSenseView)
        kind = ACTIONS[legal[0]].kind
        if kind == "predict":
            return _prediction(view, legal)
        situation = Situation(view)
        if kind == "double":
            return legal[1] if situation.wanted > 0 else legal[0]
        if kind == "peek":
            return legal[0]
        return _play(situation, legal)


def _strength(card: int, trump: int) -> float:
    """How often a card takes a trick, by its looks: 0 to 1."""
    looks = (CARDS[card].values[-1] / 16) ** 3
    return min(0.95, looks + 0.4) if CARDS[card].colour == trump else looks


def _prediction(view: SixthSenseView, legal: Sequence[int]) -> int:
    """The card nearest to the strength of the others."""
    trump = trump_of(view)
    strengths = {card: _strength(card, trump) for card in view.hand}
    total = sum(strengths.values()) * 4 / (view.seats + 1)

    def miss(action: int) -> float:
        card = CARD_OF[action]
        return min(abs(value - (total - strengths[card])) for value in CARDS[card].values)

    return min(legal, key=miss)


def _play(situation: Situation, legal: Sequence[int]) -> int:
    """A card that takes the trick while tricks are wanted, else one that does not."""

    def strength(action: int) -> float:
        return _strength(CARD_OF[action], situation.trump)

    if not situation.trick:
        return max(legal, key=strength) if situation.wanted > 0 else min(legal, key=strength)
    taking = [action for action in legal if situation.takes(action)]
    leaving = [action for action in legal if action not in taking]
    if situation.wanted > 0:
        if not taking:
            return min(leaving, key=strength)
        return max(taking, key=strength) if situation.to_come else min(taking, key=strength)
    if leaving:
        return max(leaving, key=strength)
    return min(taking, key=strength) if situation.to_come else max(taking, key=strength)
