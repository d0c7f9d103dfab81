"""Cards and actions of Nullern: the meaning of the indices. Data only; the rules are elsewhere.

Card = colour · 20 + value − 1. The play of a card has the card's index, so a hand in card order is also the
string of its plays. The blind play of the last round follows, which does not name its card (N8); then the bids from 0
to 10.
"""

from __future__ import annotations

from typing import Final

from engine.game import Action, Card

COLOURS: Final = ("red", "yellow", "green", "blue")
COLOUR_SIZE: Final = 20
HIGHEST_BID: Final = 10
"""Number of cards in the largest hand (N1)."""

CARDS: Final = tuple(
    Card(f"{colour} {value}", index, (value,))
    for index, colour in enumerate(COLOURS)
    for value in range(1, COLOUR_SIZE + 1)
)

BLIND: Final = len(CARDS)
"""The action that plays the unseen card in the blind round."""
BID: Final = BLIND + 1
"""The action that bids 0."""

ACTIONS: Final = (
    *(Action(card.name, "play", index, card.values[0]) for index, card in enumerate(CARDS)),
    Action("play the blind card", "play"),
    *(Action(f"bid {bid}", "bid", value=bid) for bid in range(HIGHEST_BID + 1)),
)
