"""Bids and tricks by table look-up: the first leader (N4), the legal plays (N5) and the seat that takes the trick (N6).

A hand is the string of its cards in order, so the cards of a colour are consecutive. `RANKING` translates the cards of
a trick into ranks: the highest rank takes the trick; among equal ranks, the first.
"""

from __future__ import annotations

from typing import Final

from engine.nullern.cards import BID, CARDS, COLOUR_SIZE, COLOURS, HIGHEST_BID

_TRUMPS: Final = range(len(COLOURS))

BIDS: Final = tuple(bytes(range(BID, BID + size + 1)) for size in range(HIGHEST_BID + 1))
"""For each hand size, the legal bids (N3)."""
SINGLE: Final = tuple(bytes([card]) for card in range(len(CARDS)))
"""For each card, the `bytes` that contain only this card."""
OTHERS: Final = tuple(bytes(card for card, what in enumerate(CARDS) if what.colour != trump) for trump in _TRUMPS)
"""For each trump, the cards of all other colours. Deleting these from a hand leaves its trumps (N5)."""
IS_TRUMP: Final = tuple(tuple(what.colour == trump for what in CARDS) for trump in _TRUMPS)
"""`IS_TRUMP[trump][card]`."""
RANKING: Final = tuple(
    bytes(what.values[0] + COLOUR_SIZE * (what.colour == trump) for what in CARDS).ljust(256, b"\0")
    for trump in _TRUMPS
)
"""For each trump, the rank of every card (N6)."""


def first_leader(bids: bytes, dealer: int) -> int:
    """Return the first seat in bidding order with the highest bid (N4). `bids`: by seat, as in a view."""
    first = dealer + 1
    in_order = bids[first:] + bids[:first]
    return (first + in_order.index(max(in_order))) % len(bids)
