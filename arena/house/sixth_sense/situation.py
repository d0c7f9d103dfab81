"""What a house bot reads out of a view of 6th Sense: the trick on the table and how far the prediction is."""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.tricks import COLOUR_OF, NO_TRUMP, NOTHING, PLACE_BLOCKED, RANKING, VALUES

CARDS: Final = SIXTH_SENSE.cards
ACTIONS: Final = SIXTH_SENSE.actions
CARD_OF: Final = tuple(action.card or 0 for action in ACTIONS)


class Situation(NamedTuple):
    """The trick that a seat is about to play to, and what it still wants."""

    trump: int
    """The trump colour, or the number of colours for none."""
    trick: bytes
    """What lies on the table."""
    to_come: int
    """Seats that play after this one."""
    wanted: int
    """Tricks missing to the prediction; negative when there are too many."""
    left: int
    """Tricks to be played, this one included."""


def read(view: SixthSenseView) -> Situation:
    """The situation of a seat that has predicted."""
    trick = view.plays[len(view.takers) * view.seats :]
    taken = view.taken[view.seat]
    return Situation(
        trump=NO_TRUMP if view.turned is None else CARDS[view.turned].colour,
        trick=trick,
        to_come=view.seats - 1 - len(trick),
        wanted=goal(view) - taken,
        left=view.hand_size - 1 - len(view.takers),
    )


def goal(view: SixthSenseView) -> int:
    """The number of tricks to aim at: of a 6/9 the 6 until more are taken."""
    if view.prediction is None:
        return 0
    values = CARDS[view.prediction].values
    return values[-1] if view.taken[view.seat] > values[0] else values[0]


def takes(trick: bytes, trump: int) -> int:
    """The place in the trick that would take it as it lies; −1 when nothing counts."""
    lying = bytearray(trick)
    for action in trick:
        if PLACE_BLOCKED[action] >= 0:
            lying[PLACE_BLOCKED[action]] = NOTHING
    values = lying.translate(VALUES)
    for action, value in zip(lying, values, strict=True):
        if value != NOTHING:
            ranks = lying.translate(RANKING[trump][values.count(4) & 1][COLOUR_OF[action]])
            return ranks.rindex(max(ranks))
    return -1


def leads_after(situation: Situation, action: int) -> bool:
    """Whether the seat would take the trick if it ended with this action."""
    return takes(situation.trick + bytes([action]), situation.trump) == len(situation.trick)
