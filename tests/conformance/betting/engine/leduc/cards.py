"""The six cards of Leduc poker and its three actions (L1, L3)."""

from __future__ import annotations

from typing import Final

from engine.game import Action, Card

COLOURS: Final = ("hearts", "spades")
RANKS: Final = {"jack": 11, "queen": 12, "king": 13}
CARDS: Final = tuple(
    Card(f"{rank} of {colour}", index, (value,))
    for index, colour in enumerate(COLOURS)
    for rank, value in RANKS.items()
)
RANK: Final = tuple(card.values[0] for card in CARDS)
FOLD, CALL, RAISE = range(3)
ACTIONS: Final = (Action("fold", "fold"), Action("check or call", "call"), Action("raise", "raise"))
