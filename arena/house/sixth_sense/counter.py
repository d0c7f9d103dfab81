"""The counting house bot: it keeps track of the cards it has not seen and weighs every choice by its likely points.

A card's chance in a later trick falls with the higher cards and the trumps that the others may still hold. A
prediction is the card whose number promises most points if the tricks scatter around the sum of these chances; a play
is the one after which the tricks wanted and the tricks to be expected differ least. The numbers below were found by
trying: they won most against the careful bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erf, exp, sqrt
from typing import Final

from arena.house.content import version
from arena.house.sixth_sense.situation import ACTIONS, CARD_OF, CARDS, Situation, leads_after, read
from engine.game import SeatView
from engine.sixth_sense import SixthSenseView
from engine.sixth_sense.cards import COLOUR_SIZE
from engine.sixth_sense.score import POINTS

_HIGHER: Final = 0.33
"""How much one expected higher card of the colour in other hands takes off."""
_RUFF: Final = 0.12
"""How much one expected trump in other hands takes off a card of another colour."""
_OVERTRUMP: Final = 0.35
"""How much one such trump adds to the cards that may take a trick from a card of another colour."""
_SCATTER: Final = 1.0
"""Standard deviation of the tricks of a round around what is expected of a hand."""
_EAGER: Final = 0.37
"""How readily a later seat that could take the trick does."""


@dataclass(frozen=True, slots=True)
class CounterBot:
    """Plays for its prediction with an eye on what the others can still hold."""

    game: str = "sixth_sense"
    name: str = "house-counter"
    version: str = version(__name__, read.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice with the best prospects; chance has no part in it."""
        assert isinstance(view, SixthSenseView)
        kind = ACTIONS[legal[0]].kind
        if kind == "peek":
            return legal[1]
        situation = read(view)
        others = _Others(view, situation.trump)
        if kind == "predict":
            return _prediction(view, legal, others)
        if kind == "double":
            expected = sum(map(others.chance, view.hand))
            wanted = situation.wanted
            return legal[1] if abs(wanted - 1 - expected) < abs(wanted - expected) else legal[0]
        return _play(view, situation, legal, others)


class _Others:
    """The cards that other seats may hold."""

    def __init__(self, view: SixthSenseView, trump: int) -> None:
        unseen = bytearray(b"\1") * (4 * COLOUR_SIZE if view.seats == 2 else len(CARDS))
        for card in (*view.hand, *(CARD_OF[action] for action in view.plays if ACTIONS[action].card is not None)):
            unseen[card] = 0
        for known in (view.turned, view.prediction):
            if known is not None:
                unseen[known] = 0
        self.unseen = unseen
        self.trump = trump
        held = len(view.hand) * (view.seats - 1)
        self.share = min(1.0, held / max(1, sum(unseen)))
        """The part of the unseen cards that is in somebody's hand."""
        self.trumps = self._count(trump * COLOUR_SIZE, (trump + 1) * COLOUR_SIZE)

    def _count(self, first: int, end: int) -> float:
        return self.share * sum(self.unseen[first:end])

    def higher(self, card: int) -> float:
        """Higher cards of its colour that other seats may be expected to hold."""
        return self._count(card + 1, (CARDS[card].colour + 1) * COLOUR_SIZE)

    def chance(self, card: int) -> float:
        """The chance that a card takes a later trick."""
        against = self.higher(card) * _HIGHER
        if CARDS[card].colour != self.trump:
            against += self.trumps * _RUFF
        return exp(-against)

    def beaten(self, card: int, to_come: int, seats: int) -> float:
        """The chance that one of the seats to come takes the trick from a card that is ahead."""
        against = self.higher(card)
        if CARDS[card].colour != self.trump:
            against += self.trumps * _OVERTRUMP
        return 1 - exp(-_EAGER * against * to_come / max(1, seats - 1))


def _prediction(view: SixthSenseView, legal: Sequence[int], others: _Others) -> int:
    """The card that promises most points."""
    chances = {card: others.chance(card) for card in view.hand}
    total = sum(chances.values())
    return max(legal, key=lambda action: _prospect(CARD_OF[action], total - chances[CARD_OF[action]]))


def _prospect(prediction: int, expected: float) -> float:
    """Points to be expected of a prediction when the tricks scatter normally around what is expected (S14)."""
    first, last = max(0, int(expected) - 4), int(expected) + 5
    below = [_below((tricks - 0.5 - expected) / _SCATTER) for tricks in range(first, last + 2)]
    points = POINTS[False][prediction][first : last + 1]
    return sum([(more - less) * worth for (less, more), worth in zip(pairwise(below), points, strict=True)])


def _below(deviations: float) -> float:
    """The normal distribution's part below so many standard deviations."""
    return (1 + erf(deviations / sqrt(2))) / 2


def _play(view: SixthSenseView, situation: Situation, legal: Sequence[int], others: _Others) -> int:
    """The play after which wanted and expected tricks differ least; of equals the first."""
    chances = {card: others.chance(card) for card in view.hand}
    total = sum(chances.values())
    doubled = any(ACTIONS[action].value == 12 and ACTIONS[action].kind == "play" for action in situation.trick)

    def regret(action: int) -> float:
        card = CARD_OF[action]
        missing = situation.wanted - (total - chances[card])
        takes = 0.0
        if leads_after(situation, action):
            takes = 1 - others.beaten(card, situation.to_come, view.seats)
        gained = abs(missing - 1)
        if doubled or ACTIONS[action].value == 12:
            gained = min(gained, abs(missing - 2))
        return takes * gained + (1 - takes) * abs(missing)

    return min(legal, key=regret)
