"""What a house bot reads out of a view of 6th Sense: the trick on the table, how far the prediction is, what was seen.

Sets of cards are the bits of a number.
"""

from __future__ import annotations

from typing import Final

from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.cards import COLOUR_SIZE, COLOURS
from engine.sixth_sense.tricks import COLOUR_OF, NO_TRUMP, NOTHING, PLACE_BLOCKED, RANKING, VALUES

CARDS: Final = SIXTH_SENSE.cards
ACTIONS: Final = SIXTH_SENSE.actions
CARD_OF: Final = tuple(action.card or 0 for action in ACTIONS)
DOUBLES: Final = 12
"""The value of a card that may make its trick worth two (S13)."""
IN_COLOUR: Final = (*(((1 << COLOUR_SIZE) - 1) << COLOUR_SIZE * colour for colour in range(len(COLOURS))), 0)
"""By colour, its cards; none of them where there is no trump."""
_SET_OF: Final = tuple(0 if action.card is None else 1 << action.card for action in ACTIONS)
"""By action, its card."""


class Situation:
    """The trick that a seat is about to play to, and what it still wants."""

    def __init__(self, view: SixthSenseView) -> None:
        self.trump = trump_of(view)
        """The trump colour, or the number of colours for none."""
        self.trick = view.plays[len(view.takers) * view.seats :]
        """What was played to it."""
        self.to_come = view.seats - 1 - len(self.trick)
        """Seats that play after this one."""
        self.doubles = DOUBLES in self.trick.translate(VALUES)
        """Whether a card was played to it that may make it worth two."""
        self.wanted = _goal(view) - view.taken[view.seat]
        """Tricks missing to the prediction; negative when there are too many."""
        lying = _lying(self.trick)
        self.led = _led(lying)
        """The colour of the first card that counts (S6); the number of colours where none does."""
        self.fours = lying.translate(VALUES).count(4) & 1
        """1 where the number of its fours is odd, else 0."""
        self.ahead = [0, 0]
        """The highest rank with an even number of fours, and with an odd one (S10)."""
        if self.led != NO_TRUMP:
            self.ahead = [max(lying.translate(ranks[self.led])) for ranks in RANKING[self.trump]]

    def after(self, action: int) -> tuple[int, int]:
        """The colour led and whether the number of fours is odd, once this action was played to it, too."""
        return COLOUR_OF[action] if self.led == NO_TRUMP else self.led, self.fours ^ (VALUES[action] == 4)

    def takes(self, action: int) -> bool:
        """Whether the seat would take the trick if it ended with this action."""
        led, fours = self.after(action)
        return (
            RANKING[self.trump][fours][led][action] >= self.ahead[fours]
        )  # a block has rank 0, and something to block


def trump_of(view: SixthSenseView) -> int:
    """The trump colour, or the number of colours for none."""
    return NO_TRUMP if view.turned is None else CARDS[view.turned].colour


def unseen(view: SixthSenseView) -> int:
    """The cards that are neither in hand nor turned over, nor were played openly."""
    seen = 0 if view.turned is None else 1 << view.turned
    for card in view.hand:
        seen |= 1 << card
    for action in view.plays:
        seen |= _SET_OF[action]
    return ((1 << COLOUR_SIZE * (len(COLOURS) - (view.seats == 2))) - 1) & ~seen


def lacks(view: SixthSenseView) -> list[int]:
    """By seat, the cards of all colours of which it has shown that it has none (S5)."""
    lacking = [0] * view.seats
    for number, leader in enumerate(view.leaders):
        trick, led = view.plays[number * view.seats : (number + 1) * view.seats], NO_TRUMP
        for place, action in enumerate(trick):
            if PLACE_BLOCKED[action] >= 0:
                led = _led(_lying(trick[: place + 1]))
            elif led == NO_TRUMP:
                led = COLOUR_OF[action]
            elif COLOUR_OF[action] != led:
                lacking[(leader + place) % view.seats] |= IN_COLOUR[led]
    return lacking


def _goal(view: SixthSenseView) -> int:
    """The number of tricks to aim at: of a 6/9 the 6 until more are taken."""
    if view.prediction is None:
        return 0
    values = CARDS[view.prediction].values
    return values[-1] if view.taken[view.seat] > values[0] else values[0]


def _lying(trick: bytes) -> bytes:
    """A trick without what was blocked (S7)."""
    lying = bytearray(trick)
    for action in trick:
        if PLACE_BLOCKED[action] >= 0:
            lying[PLACE_BLOCKED[action]] = NOTHING
    return bytes(lying)


def _led(lying: bytes) -> int:
    for action in lying:
        if VALUES[action] != NOTHING:
            return COLOUR_OF[action]
    return NO_TRUMP
