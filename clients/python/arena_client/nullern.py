"""Reads a view of Nullern: how strong a card is, what lies on the table, who wants tricks, which cards are out.

It computes everything from one decision and remembers nothing. The two better samples use it.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_client import Catalog, NullernView

PLAIN = 20
"""The highest strength of a card that is no trump."""
HUPFER = 5
"""Points that a missed bid costs at the end of the game."""


class Table(NamedTuple):
    """The knowledge of the seat to choose, beyond its own hand."""

    strengths: list[int]
    """By card: its value, whatever its colour, and 20 more for a trump. The strongest card takes the trick."""
    trick: list[int]
    """The strengths of the cards on the table; of equally strong ones the first takes the trick."""
    to_come: list[int]
    """The seats that play to this trick after the own one."""
    unseen: list[int]
    """The strengths of the cards that lie with the others or in the stock."""


def read(game: Catalog, view: NullernView) -> Table:
    """The table as the view shows it."""
    trump = game.cards[view.turned].colour
    strengths = [card.values[0] + (PLAIN if card.colour == trump else 0) for card in game.cards]
    trick = [strengths[card] for card in view.plays[len(view.takers) * view.seats :]]
    to_come = [(view.seat + step) % view.seats for step in range(1, view.seats - len(trick))]
    seen = {*view.hand, *view.plays, view.turned}
    unseen = [strength for card, strength in enumerate(strengths) if card not in seen]
    return Table(strengths, trick, to_come, unseen)


def taker(game: Catalog, view: NullernView) -> int | None:
    """The seat that takes the trick on the table as it lies; None where no card lies there."""
    trick = read(game, view).trick
    if not trick:
        return None
    return (view.leaders[len(view.takers)] + trick.index(max(trick))) % view.seats


def wanted_tricks(view: NullernView, seat: int) -> int:
    """Tricks still missing for a seat's bid; negative when it has too many."""
    return view.bids.get(seat, -1) - view.taken[seat]


def eager(view: NullernView, seat: int) -> bool:
    """True if a seat has a use for a trick: for its bid, or, when that is lost anyway, for the point."""
    return wanted_tricks(view, seat) != 0


def points(bid: int, tricks: int) -> int:
    """Return the points of a round with this bid and that many tricks, the cost of a missed bid counted at once."""
    if bid != tricks:
        return tricks - HUPFER
    return 10 + tricks if tricks else 20
