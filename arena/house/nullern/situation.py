"""What a house bot reads out of a view of Nullern: the trick on the table and what the seats still want.

Cards compare by their rank (`engine.nullern.tricks.RANKING`): 1 to 20 the value of a plain card, whatever its colour,
and 21 to 40 the trumps.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.nullern import NULLERN, NullernView
from engine.nullern.cards import COLOUR_SIZE
from engine.nullern.tricks import RANKING

CARDS: Final = NULLERN.cards
HIGHEST_PLAIN: Final = COLOUR_SIZE
"""The highest rank without a trump."""


class Situation(NamedTuple):
    """The trick that a seat is about to play to, and who still wants tricks."""

    ranks: bytes
    """The rank of every card."""
    led: int
    """The rank of the card led; 0 when there is none yet."""
    ahead: int
    """The rank that is to be beaten; 0 when there is none yet."""
    eager: bool
    """Whether the seat has a use for this trick."""
    eager_to_come: int
    """Seats that play after this one and have a use for the trick."""
    content_to_come: int
    """Seats that play after this one and would rather not take it."""


def read(view: NullernView) -> Situation:
    """The situation of a seat that is to play a card."""
    seats = view.seats
    ranks = RANKING[CARDS[view.turned].colour]
    trick = view.plays[len(view.takers) * seats :].translate(ranks)
    to_come = seats - 1 - len(trick)
    eager = sum(is_eager(view, (view.seat + step) % seats) for step in range(1, to_come + 1))
    return Situation(
        ranks=ranks,
        led=trick[0] if trick else 0,
        ahead=max(trick, default=0),
        eager=is_eager(view, view.seat),
        eager_to_come=eager,
        content_to_come=to_come - eager,
    )


def is_eager(view: NullernView, seat: int) -> bool:
    """Whether a seat has a use for a trick: it misses some, or its bid is lost and every trick is a point (N7)."""
    return view.bids[seat] - 1 != view.taken[seat]
