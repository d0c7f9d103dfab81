"""The planning house bot: it works the rest of the round out backwards and makes the choice that is worth most points.

Every card left in hand will be played either to take a trick or to avoid one, whichever is better when its turn comes,
and takes one with a chance that follows from the cards still out. With no card left the points are certain; with one
more, they are the better of wanting it to take a trick and not wanting it (S14). A prediction is the same question
asked before the first trick. The numbers below were found by trying.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Final, TypeAlias

from arena.house.content import version
from arena.house.sixth_sense.situation import (
    ACTIONS,
    CARD_OF,
    CARDS,
    DOUBLES,
    IN_COLOUR,
    Situation,
    lacks,
    trump_of,
    unseen,
)
from engine.game import SeatView
from engine.sixth_sense import SixthSenseView
from engine.sixth_sense.cards import COLOURS
from engine.sixth_sense.score import POINTS
from engine.sixth_sense.tricks import COLOUR_OF, NO_TRUMP, PLAYS_OF, RANKING, VALUES

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

_MOST: Final = 3
"""Of so many numbers a choice takes account: the worth of no trick, of one and of two, as one card may take (S13)."""

_Chance: TypeAlias = tuple[float, float]
"""How likely a card takes a later trick: against its player's wish, and with it."""

_LAST_PLAY: Final = tuple(plays[-1] for plays in PLAYS_OF)
"""By card, the play of its highest value."""
_FOURS: Final = sum(1 << card for card, play in enumerate(_LAST_PLAY) if VALUES[play] == 4)
_ABOVE: Final = tuple(
    sum(
        1 << other
        for other, play in enumerate(_LAST_PLAY)
        if COLOUR_OF[play] == COLOUR_OF[action] and VALUES[play] > VALUES[action]
    )
    for action in range(len(ACTIONS))
)
"""By play, the cards of its colour with a higher value."""


@dataclass(frozen=True, slots=True)
class PlannerBot:
    """Plans the round from every choice on."""

    game: str = "sixth_sense"
    name: str = "house-planner"
    version: str = version(__name__, trump_of.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice that is worth most, of equals the first; chance has no part in it."""
        assert isinstance(view, SixthSenseView)
        if ACTIONS[legal[0]].kind == "peek":
            return legal[1]  # to know is never worse
        outlook = _Outlook(view)
        match ACTIONS[legal[0]].kind:
            case "predict":
                return outlook.best_prediction(legal)
            case "double":
                return legal[outlook.is_better_doubled()]
        return max(legal, key=_Trick(view, outlook).worth)


class _Outlook:
    """What the rest of a round may bring to one seat, by the cards that others may hold."""

    def __init__(self, view: SixthSenseView) -> None:
        self.trump = trump_of(view)
        self._view = view
        self.out = unseen(view)
        for known in view.known_predictions:
            if known:
                self.out &= ~(1 << known - 1)
        held = len(view.hand)
        self._lacked = 1 - held / max(self.out.bit_count(), held, 1)  # how likely a seat has not got one of them
        self._chances = self._of_hand()
        self._slope = 0 if view.novice else -1  # what each further trick is worth when there are far too many (S14)
        self._begun: list[list[float]] = []
        self._rests: dict[int, list[float]] = {}

    def best_prediction(self, legal: Sequence[int]) -> int:
        """The prediction that is worth most, of equals the first."""
        tricks = sum(wanted for _, wanted in self._chances)  # no more can be expected
        best, choice = -inf, legal[0]
        for action in legal:
            values = CARDS[CARD_OF[action]].values
            if not self._view.novice and min(values[-1], 2 * tricks - values[0]) < best:
                continue  # of t tricks the points are neither more than the value nor than 2t less it (S14)
            place = self._view.hand.index(CARD_OF[action])
            rest = self._chances[:place] + self._chances[place + 1 :]
            worth = self._backwards(self._points(CARD_OF[action], len(rest) + 1), rest, 1)[0]
            if worth > best:
                best, choice = worth, action
        return choice

    def is_better_doubled(self) -> bool:
        """Whether the trick just taken should rather count twice."""
        points = self._points(self._prediction(), len(self._chances) + 2)
        once, twice = self._first(self._backwards(points, self._chances, 2), 2)
        return twice > once

    def without(self, card: int, count: int) -> list[float]:
        """The points to be expected once a card is played: with the tricks taken so far, one more and so on."""
        place = self._view.hand.index(card)
        while place and self._chances[place] == self._chances[place - 1]:
            place -= 1  # all the same which of equals is gone
        key = place * (_MOST + 1) + count
        if key not in self._rests:
            rest, before = self._chances[place + 1 :], self._before(place)[: len(self._chances) - place - 1 + count]
            self._rests[key] = self._first(self._backwards(before, rest, count), count)
        return self._rests[key]

    def _before(self, place: int) -> list[float]:
        """The worths with only the cards counted that come before a place of the hand: a beginning that rests share."""
        cards = len(self._chances) - 1
        if not self._begun:
            self._begun.append(self._points(self._prediction(), cards + _MOST))
        for done in range(len(self._begun), place + 1):
            last = self._chances[done - 1 : done]
            self._begun.append(self._backwards(self._begun[-1], last, cards - done + _MOST))
        return self._begun[place]

    def _prediction(self) -> int:
        assert self._view.prediction is not None, "all predictions are in"
        return self._view.prediction

    def _points(self, prediction: int, count: int) -> list[float]:
        """The points of the round with the tricks taken so far, one more and so on: so many, or up to the slope."""
        taken = self._view.taken[self._view.seat]
        slope = max(taken, CARDS[prediction].values[-1] + (5 if self._view.novice else 1))
        return [*POINTS[self._view.novice][prediction][taken : min(taken + count, slope + 1)]]

    def _backwards(self, worths: list[float], cards: Sequence[_Chance], count: int) -> list[float]:
        """The worths before these cards are played from those after them: so many, or up to the slope."""
        need = count + len(cards)
        for unwanted, wanted in cards:
            need -= 1
            before: list[float] = []
            less = worths[0]
            for more in worths[1:]:
                before.append(less + (wanted if more > less else unwanted) * (more - less))
                less = more
            if len(before) < need:
                before.append(less + self._slope * unwanted)
            worths = before
        return worths

    def _first(self, worths: list[float], count: int) -> list[float]:
        """So many of them, as far down the slope as they go."""
        return [*worths, worths[-1] + self._slope, worths[-1] + 2 * self._slope][:count]

    def held(self, cards: int) -> float:
        """How likely a seat holds at least one of some unseen cards."""
        return float(1 - self._lacked ** (cards & self.out).bit_count())

    def _of_hand(self) -> list[_Chance]:
        """By card in hand."""
        chances: list[_Chance] = []
        ruffed = [self._ruffed(colour) for colour in range(len(COLOURS))]
        for card in self._view.hand:
            colour, plays = CARDS[card].colour, PLAYS_OF[card]
            wanted = likely = self._led(plays[-1], ruffed[colour])
            if len(plays) > 1:
                likely = self._led(plays[0], ruffed[colour])
            chances.append((likely**_UNWILLING * (1 if colour == self.trump else _SHED), wanted))
        return chances

    def _ruffed(self, colour: int) -> float:
        """How likely one other seat ruffs a card of this colour."""
        if self.trump in (NO_TRUMP, colour):
            return 0.0
        return _RUFFS * (1 - self.held(IN_COLOUR[colour])) * self.held(IN_COLOUR[self.trump])

    def _led(self, play: int, ruffed: float) -> float:
        """How likely a card, played so, takes a trick that it leads, or ruffs."""
        kept: float = (1 - (_HIGHER * self.held(_ABOVE[play]) + ruffed)) ** (self._view.seats - 1)
        if COLOUR_OF[play] == self.trump:
            kept = 1 - (1 - kept) * (1 - _RUFFED_IN)
        return float(kept**_WAITING)


class _Trick:
    """The trick that a seat is about to play to."""

    def __init__(self, view: SixthSenseView, outlook: _Outlook) -> None:
        self._outlook, self._now = outlook, Situation(view)
        self._to_come: list[tuple[float, int]] = []  # how eager each later seat is, and the cards that it may hold
        if self._now.to_come:
            lacking = lacks(view)
            seats = [(view.seat + step) % view.seats for step in range(1, self._now.to_come + 1)]
            self._to_come = [(_eager(view, seat), ~lacking[seat]) for seat in seats]

    def worth(self, action: int) -> float:
        """The points of the round to be expected after a play."""
        now, card = self._now, CARD_OF[action]
        if not now.takes(action):
            return self._outlook.without(card, 1)[0]
        led, fours = now.after(action)
        ranks, turned = RANKING[now.trump][fours][led], RANKING[now.trump][1 - fours][led]
        none, *more = self._outlook.without(card, _MOST if now.doubles or VALUES[action] == DOUBLES else 2)
        over = _at_least(now.trump, fours, led, ranks[action]) & ~_FOURS
        over |= _at_least(now.trump, 1 - fours, led, max(now.ahead[1 - fours], turned[action])) & _FOURS
        kept = self._kept(led, over)
        return kept * max(more) + (1 - kept) * none

    def _kept(self, led: int, over: int) -> float:
        """How likely the trick stays with who takes it now, when these cards would take it away (S8–S10)."""
        held, following, trumps = self._outlook.held, IN_COLOUR[led], IN_COLOUR[self._now.trump]
        kept = 1.0
        for eager, cards in self._to_come:
            ruffs = held(over & ~following) if cards & trumps or self._now.trump == NO_TRUMP else 0.0
            kept *= 1 - eager * held(over & following & cards) - _RUFFS * (1 - held(following & cards)) * ruffs
        return kept


@cache
def _at_least(trump: int, fours: int, led: int, rank: int) -> int:
    """The cards that have a rank or a higher one."""
    ranks = RANKING[trump][fours][led]
    return sum(1 << card for card, play in enumerate(_LAST_PLAY) if ranks[play] >= rank)


def _eager(view: SixthSenseView, seat: int) -> float:
    """How often a seat overtakes when it can."""
    known = view.known_predictions[seat]
    content = known and view.taken[seat] >= CARDS[known - 1].values[-1]
    return _CONTENT if content else _OVERTAKES
