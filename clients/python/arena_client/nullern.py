"""A summary of a view of Nullern: card strengths, the trick on the table, seats that want tricks, unseen cards.

The summary is computed from a single decision. The better samples use it.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_client import Catalog, NullernView

PLAIN = 20
"""The highest strength of a card that is not a trump."""
HUPFER = 5
"""Points that a missed bid costs at the end of the game."""


class Table(NamedTuple):
    """Everything that a seat knows when it chooses, except its own hand."""

    strengths: list[int]
    """The strength of each card: its value, plus 20 for a trump. The strongest card takes the trick."""
    trick: list[int]
    """The strengths of the cards on the table. The first of equally strong cards takes the trick."""
    to_come: list[int]
    """The seats that play to this trick after the viewing seat."""
    unseen: list[int]
    """The strengths of the unseen cards: those in the other hands and in the stock."""


def read(game: Catalog, view: NullernView) -> Table:
    """Read the table from a view."""
    trump = game.cards[view.turned].colour
    strengths = [card.values[0] + (PLAIN if card.colour == trump else 0) for card in game.cards]
    trick = [strengths[card] for card in view.plays[len(view.takers) * view.seats :]]
    to_come = [(view.seat + step) % view.seats for step in range(1, view.seats - len(trick))]
    seen = {*view.hand, *view.plays, view.turned}
    unseen = [strength for card, strength in enumerate(strengths) if card not in seen]
    return Table(strengths, trick, to_come, unseen)


def taker(game: Catalog, view: NullernView) -> int | None:
    """Return the seat that is winning the trick; None if the table is empty."""
    trick = read(game, view).trick
    if not trick:
        return None
    return (view.leaders[len(view.takers)] + trick.index(max(trick))) % view.seats


def wanted_tricks(view: NullernView, seat: int) -> int:
    """Return the number of tricks that a seat's bid still needs; negative if the seat has too many."""
    return view.bids.get(seat, -1) - view.taken[seat]


def eager(view: NullernView, seat: int) -> bool:
    """Return true if a seat wants a trick: for its bid or, if the bid is lost, for the trick's point."""
    return wanted_tricks(view, seat) != 0


def points(bid: int, tricks: int) -> int:
    """Return the points of a round with this bid and these tricks, including the later cost of a missed bid."""
    if bid != tricks:
        return tricks - HUPFER
    return 10 + tricks if tricks else 20
