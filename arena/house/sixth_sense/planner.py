"""The planning house bot: it works the rest of the round out backwards and makes the choice that is worth most points.

Every card left in hand will be played either to take a trick or to avoid one, whichever is better when its turn comes,
and takes one with a chance that follows from the cards still out. With no card left the points are certain; with one
more, they are the better of wanting it to take a trick and not wanting it (S14). A prediction is the same question
asked before the first trick. The numbers below were found by trying.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from arena.house.content import version
from arena.house.sixth_sense.situation import ACTIONS, CARD_OF, CARDS, read, takes
from engine.game import SeatView
from engine.sixth_sense import SixthSenseView
from engine.sixth_sense.cards import COLOUR_SIZE, COLOURS
from engine.sixth_sense.score import POINTS
from engine.sixth_sense.tricks import COLOUR_OF, NO_TRUMP, NOTHING, PLACE_BLOCKED, PLAYS_OF, RANKING, VALUES

_OVERTAKES: Final = 0.55
"""How often a seat that holds a card to overtake with plays it."""
_CONTENT: Final = 0.3
"""The same, of a seat known to have all the tricks it predicted."""
_HIGHER: Final = 0.37
"""How much another seat's higher card of the colour counts against a card over the rest of the round."""
_RUFFS: Final = 0.53
"""How often a seat that cannot follow and holds a trump plays one."""
_RUFFED_IN: Final = 0.55
"""How often a trump takes a trick of another colour that it could not take by leading."""
_WAITING: Final = 1.3
"""An exponent: over a whole round more happens to a card than the chances of a single trick know of."""
_UNWILLING: Final = 5.5
"""An exponent: a card takes a trick more rarely when its player would rather not."""
_SHED: Final = 0.93
"""How much rarer still when it is no trump: it can be thrown away on another colour."""
_SPARE: Final = 2
"""Tricks that one trick may add (S13)."""


@dataclass(frozen=True, slots=True)
class PlannerBot:
    """Plans the round from every choice on."""

    game: str = "sixth_sense"
    name: str = "house-planner"
    version: str = version(__name__, read.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice that is worth most, of equals the first; chance has no part in it."""
        assert isinstance(view, SixthSenseView)
        if ACTIONS[legal[0]].kind == "peek":
            return legal[1]  # to know is never worse
        outlook = _Outlook(view)
        return max(legal, key=outlook.worth)


class _Outlook:
    """What the rest of a round may bring to one seat."""

    def __init__(self, view: SixthSenseView) -> None:
        self._view = view
        situation = read(view)
        self._trump, self._trick = situation.trump, situation.trick
        self._to_come = [(view.seat + step) % view.seats for step in range(1, situation.to_come + 1)]
        self._void = _void(view)
        unseen = set(range(COLOUR_SIZE * (len(COLOURS) - (view.seats == 2))))
        unseen.difference_update(
            view.hand, (CARD_OF[action] for action in view.plays if ACTIONS[action].card is not None)
        )
        unseen.difference_update(known - 1 for known in view.known_predictions if known)
        unseen.discard(-1 if view.turned is None else view.turned)
        self._out: list[list[int]] = [[] for _ in COLOURS]  # the cards that others may hold, by colour
        for card in sorted(unseen):
            self._out[CARDS[card].colour].append(card)
        self._share = len(view.hand) / max(len(unseen), len(view.hand), 1)  # that one seat holds one of them
        self._chances = {card: self._chance(card) for card in view.hand}
        self._rests: dict[int, Sequence[float]] = {}

    def worth(self, action: int) -> float:
        """The points of the round to be expected after an action."""
        kind, card = ACTIONS[action].kind, CARD_OF[action]
        if kind == "predict":
            return self._rest(card, {each: chance for each, chance in self._chances.items() if each != card}, 0)[0]
        assert self._view.prediction is not None, "all predictions are in"
        taken = self._view.taken[self._view.seat]
        if kind == "double":
            return self._rest(self._view.prediction, self._chances, taken)[ACTIONS[action].value or 0]
        if card not in self._rests:
            left = {each: chance for each, chance in self._chances.items() if each != card}
            self._rests[card] = self._rest(self._view.prediction, left, taken)
        none, one, two = self._rests[card]
        trick = self._trick + bytes([action])
        if takes(trick, self._trump) != len(self._trick):
            return none
        if any(ACTIONS[laid].kind == "play" and ACTIONS[laid].value == 12 for laid in trick):
            one = max(one, two)
        kept = self._kept(trick)
        return kept * one + (1 - kept) * none

    def _rest(self, prediction: int, cards: Mapping[int, tuple[float, float]], tricks: int) -> Sequence[float]:
        """The points to be expected with these cards to play, of so many tricks, one more, and two more."""
        points = POINTS[self._view.novice][prediction]
        worths: list[float] = [points[min(tricks + more, len(points) - 1)] for more in range(len(cards) + _SPARE + 1)]
        for unwanted, wanted in cards.values():
            worths = [less + (wanted if more > less else unwanted) * (more - less) for less, more in pairwise(worths)]
        return worths

    def _chance(self, card: int) -> tuple[float, float]:
        """How likely a card takes a later trick: against its player's wish, and with it."""
        colour, values = CARDS[card].colour, CARDS[card].values
        unwanted = self._led(colour, values[0]) ** _UNWILLING * (1 if colour == self._trump else _SHED)
        return unwanted, self._led(colour, values[-1])

    def _led(self, colour: int, value: int) -> float:
        """How likely a card of this value takes a trick that it leads, or ruffs."""
        beaten = _HIGHER * self._held(sum(CARDS[other].values[-1] > value for other in self._out[colour]))
        if self._trump not in (NO_TRUMP, colour):
            beaten += _RUFFS * (1 - self._held(len(self._out[colour]))) * self._held(len(self._out[self._trump]))
        kept: float = (1 - beaten) ** (self._view.seats - 1)
        if colour == self._trump:
            kept = 1 - (1 - kept) * (1 - _RUFFED_IN)
        return float(kept**_WAITING)

    def _held(self, cards: int) -> float:
        """How likely a seat holds at least one of so many unseen cards."""
        return float(1 - (1 - self._share) ** cards)

    def _kept(self, trick: bytes) -> float:
        """How likely a trick stays with the seat that would take it now."""
        led, follow, others = self._overtaking(trick)
        kept = 1.0
        for seat in self._to_come:
            empty = (seat, led) in self._void
            follows, beats = (0.0, 0.0) if empty else (self._held(len(self._out[led])), self._held(follow))
            ruffs = 0.0 if (seat, self._trump) in self._void else self._held(others)
            kept *= 1 - self._eager(seat) * beats - _RUFFS * (1 - follows) * ruffs
        return kept

    def _overtaking(self, trick: bytes) -> tuple[int, int, int]:
        """The led colour, and how many unseen cards of it and of others would take the trick away (S8–S10)."""
        lying = _lying(trick)
        led = _led_colour(lying)
        fours = lying.translate(VALUES).count(4) & 1
        as_it_lies, turned = RANKING[self._trump][fours][led], RANKING[self._trump][1 - fours][led]
        best, best_turned = max(lying.translate(as_it_lies)), max(lying.translate(turned))
        over = [0] * len(COLOURS)
        for colour, cards in enumerate(self._out):
            for card in cards:
                play = PLAYS_OF[card][-1]
                if turned[play] >= best_turned if VALUES[play] == 4 else as_it_lies[play] >= best:
                    over[colour] += 1
        return led, over[led], sum(over) - over[led]

    def _eager(self, seat: int) -> float:
        """How often a seat overtakes when it can."""
        known = self._view.known_predictions[seat]
        content = known and self._view.taken[seat] >= CARDS[known - 1].values[-1]
        return _CONTENT if content else _OVERTAKES


def _void(view: SixthSenseView) -> set[tuple[int, int]]:
    """The seats and colours of which a seat has shown that it has none (S5)."""
    void = set()
    for number, leader in enumerate(view.leaders):
        trick = view.plays[number * view.seats : (number + 1) * view.seats]
        for place in range(1, len(trick)):
            led = _led_colour(_lying(trick[:place]))
            if ACTIONS[trick[place]].kind == "play" and led not in (NO_TRUMP, CARDS[CARD_OF[trick[place]]].colour):
                void.add(((leader + place) % view.seats, led))
    return void


def _lying(trick: bytes) -> bytes:
    """A trick without what was blocked (S7)."""
    lying = bytearray(trick)
    for action in trick:
        if PLACE_BLOCKED[action] >= 0:
            lying[PLACE_BLOCKED[action]] = NOTHING
    return bytes(lying)


def _led_colour(lying: bytes) -> int:
    """The colour of the first card that counts (S6); the number of colours where none does."""
    return next((COLOUR_OF[action] for action in lying if VALUES[action] != NOTHING), NO_TRUMP)
