"""Cards and actions of 6th Sense: the meaning of the indices. Data only; the rules are elsewhere.

Card = colour · 14 + rank. Each colour has 20 plays: its 14 cards in ascending order (the 6/9 first as 6, then 9), and
its 0 as a block of place 1 … 5 of the trick (`Action.place` counts from 0, the name from 1). The plays of a card, and
those of a colour, are therefore consecutive, and a hand can be a string of plays. Five actions follow that show other
seats a block without its card (never legal); then the four answers; finally the 70 predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.game import Action, Card

COLOURS: Final = ("red", "yellow", "green", "blue", "purple")
"""With two seats the last colour is left out (S1)."""
RANKS: Final = ((0,), (1,), (2,), (3,), (4,), (5,), (6, 9), (7,), (8,), (10,), (11,), (12,), (13,), (14,))
"""The values a card of each rank can count as (S1, S11)."""
COLOUR_SIZE: Final = len(RANKS)
BLOCKABLE: Final = 5
"""Places of a trick that a later card can block: all but the last of six seats."""

CARDS: Final = tuple(
    Card(f"{colour} {'/'.join(map(str, values))}", index, values)
    for index, colour in enumerate(COLOURS)
    for values in RANKS
)

PLAYS_A_COLOUR: Final = COLOUR_SIZE + 1 + BLOCKABLE
BLOCKS: Final = COLOUR_SIZE + 1
"""Offset in a colour's plays of its 0 as a block of the first place."""
HIDDEN_BLOCKS: Final = PLAYS_A_COLOUR * len(COLOURS)
"""The first of the actions that show a block to other seats."""
KEEP: Final = HIDDEN_BLOCKS + BLOCKABLE
SPLIT: Final = KEEP + 1
LOOK_AWAY: Final = KEEP + 2
PEEK: Final = KEEP + 3
PREDICT: Final = KEEP + 4
"""The action that predicts the first card."""


def _plays(colour: int) -> Iterator[Action]:
    """List a colour's plays in the order of their indices."""
    name = COLOURS[colour]
    first = colour * COLOUR_SIZE
    for rank, values in enumerate(RANKS):
        yield Action(f"{name} {values[0]}", "play", first + rank, values[0])
        for value in values[1:]:
            yield Action(f"{name} {values[0]} as {value}", "play", first + rank, value)
    for place in range(BLOCKABLE):
        yield Action(f"{name} 0 blocks place {place + 1}", "block", first, 0, place)


ACTIONS: Final = (
    *(action for colour in range(len(COLOURS)) for action in _plays(colour)),
    *(Action(f"a 0 blocks place {place + 1}", "block", value=0, place=place) for place in range(BLOCKABLE)),
    Action("keep as one", "double", value=0),
    Action("split", "double", value=1),
    Action("do not peek", "peek", value=0),
    Action("peek", "peek", value=1),
    *(Action(f"predict {card.name}", "predict", index) for index, card in enumerate(CARDS)),
)
