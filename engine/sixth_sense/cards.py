"""Cards and actions of 6th Sense: what the indices mean. Data only; the rules are elsewhere.

Card = colour · 14 + rank. Actions 0 … 69 predict that card. Then each colour has 20 plays: its 14 cards (the 6/9
as 6), the 6/9 as 9, and its 0 as a block of place 1 … 5 of the trick (`Action.place` counts from 0, the name from
1); so the plays of a hand are those of its colours put one after the other. Then the four answers; and last the
five forms in which a block shows to the other seats, its card unknown (never legal).
"""

from __future__ import annotations

from typing import Final

from engine.game import Action, Card

COLOURS: Final = ("red", "yellow", "green", "blue", "purple")
"""With two seats the last is left out (S1)."""
RANKS: Final = ((0,), (1,), (2,), (3,), (4,), (5,), (6, 9), (7,), (8,), (10,), (11,), (12,), (13,), (14,))
"""The values a card of each rank can count as (S1, S11)."""
COLOUR_SIZE: Final = len(RANKS)
SIX: Final = RANKS.index((6, 9))
BLOCKABLE: Final = 5
"""Places of a trick that a later card can block: all but the last of six seats."""

CARDS: Final = tuple(
    Card(f"{colour} {'/'.join(map(str, values))}", index, values)
    for index, colour in enumerate(COLOURS)
    for values in RANKS
)

PLAYS: Final = len(CARDS)
"""The first action that plays a card."""
PLAYS_A_COLOUR: Final = COLOUR_SIZE + 1 + BLOCKABLE
AS_NINE: Final = COLOUR_SIZE
"""Offset in a colour's plays of its 6/9 as 9."""
BLOCKS: Final = COLOUR_SIZE + 1
"""Offset in a colour's plays of its 0 as a block of the first place."""
KEEP: Final = PLAYS + PLAYS_A_COLOUR * len(COLOURS)
SPLIT: Final = KEEP + 1
LOOK_AWAY: Final = KEEP + 2
PEEK: Final = KEEP + 3
HIDDEN_BLOCKS: Final = KEEP + 4
"""The first of the forms in which a block shows to the other seats."""


def _plays(colour: int) -> tuple[Action, ...]:
    """A colour's plays, in the order of their indices."""
    name = COLOURS[colour]
    first = colour * COLOUR_SIZE
    return (
        *(Action(f"{name} {values[0]}", "play", first + rank, values[0]) for rank, values in enumerate(RANKS)),
        Action(f"{name} 6 as 9", "play", first + SIX, 9),
        *(Action(f"{name} 0 blocks place {place + 1}", "block", first, 0, place) for place in range(BLOCKABLE)),
    )


ACTIONS: Final = (
    *(Action(f"predict {card.name}", "predict", index) for index, card in enumerate(CARDS)),
    *(action for colour in range(len(COLOURS)) for action in _plays(colour)),
    Action("keep as one", "double", value=0),
    Action("split", "double", value=1),
    Action("do not peek", "peek", value=0),
    Action("peek", "peek", value=1),
    *(Action(f"a 0 blocks place {place + 1}", "block", value=0, place=place) for place in range(BLOCKABLE)),
)
