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
from math import erf, exp, inf, sqrt
from typing import Final

from arena.house.content import version
from arena.house.sixth_sense.situation import ACTIONS, CARD_OF, CARDS, DOUBLES, IN_COLOUR, Situation, unseen
from engine.game import SeatView
from engine.sixth_sense import SixthSenseView
from engine.sixth_sense.score import POINTS
from engine.sixth_sense.tricks import VALUES

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

_HIGHER_THAN: Final = tuple(IN_COLOUR[card.colour] & ~((2 << index) - 1) for index, card in enumerate(CARDS))
"""By card, the higher ones of its colour."""


@dataclass(frozen=True, slots=True)
class CounterBot:
    """Plays for its prediction with an eye on what the others can still hold."""

    game: str = "sixth_sense"
    name: str = "house-counter"
    version: str = version(__name__, unseen.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice with the best prospects; chance has no part in it."""
        assert isinstance(view, SixthSenseView)
        kind = ACTIONS[legal[0]].kind
        if kind == "peek":
            return legal[1]
        situation = Situation(view)
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
        out = unseen(view)
        if view.prediction is not None:
            out &= ~(1 << view.prediction)
        held = len(view.hand) * (view.seats - 1)
        self.trump = trump
        self._out = out
        self._share = min(1.0, held / max(1, out.bit_count()))  # the part of them that is in somebody's hand
        self._trumps = self._held(IN_COLOUR[trump])

    def _held(self, cards: int) -> float:
        """Of some cards, how many they may be expected to hold."""
        return self._share * (cards & self._out).bit_count()

    def higher(self, card: int) -> float:
        """Higher cards of its colour that other seats may be expected to hold."""
        return self._held(_HIGHER_THAN[card])

    def chance(self, card: int) -> float:
        """The chance that a card takes a later trick."""
        against = self.higher(card) * _HIGHER
        if CARDS[card].colour != self.trump:
            against += self._trumps * _RUFF
        return exp(-against)

    def beaten(self, card: int, to_come: int, seats: int) -> float:
        """The chance that one of the seats to come takes the trick from a card that is ahead."""
        against = self.higher(card)
        if CARDS[card].colour != self.trump:
            against += self._trumps * _OVERTRUMP
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
    best, least = legal[0], inf
    for action in legal:
        card = CARD_OF[action]
        missing = situation.wanted - (total - chances[card])
        takes = 0.0
        if situation.takes(action):
            takes = 1 - others.beaten(card, situation.to_come, view.seats)
        gained = abs(missing - 1)
        if situation.doubles or VALUES[action] == DOUBLES:
            gained = min(gained, abs(missing - 2))
        regret = takes * gained + (1 - takes) * abs(missing)
        if regret < least:
            best, least = action, regret
    return best
