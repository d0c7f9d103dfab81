"""Playing out a trick by table look-up: what may follow (S5–S7, S11) and who takes it (S8–S10).

A seat's cards of one colour are a mask of 14 bits, bit = rank. Who takes a trick is read off `RANKING`, which
translates the trick's actions into ranks: the highest rank takes it, the last of equals; what does not count has
rank 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.sixth_sense.cards import (
    ACTIONS,
    AS_NINE,
    BLOCKABLE,
    BLOCKS,
    CARDS,
    COLOUR_SIZE,
    COLOURS,
    PLAYS,
    PLAYS_A_COLOUR,
    SIX,
)

NO_TRUMP: Final = len(COLOURS)
NOTHING: Final = 255
"""Stands in a trick for a card that was blocked; no action has this index."""

COLOUR_OF: Final = tuple(0 if action.card is None else CARDS[action.card].colour for action in ACTIONS)
"""The colour of the card an action predicts or plays."""
BIT_OF: Final = tuple(0 if action.card is None else 1 << action.card % COLOUR_SIZE for action in ACTIONS)
"""The bit of that card in its colour's mask."""
PLACE_BLOCKED: Final = tuple(-1 if action.place is None else action.place for action in ACTIONS)
"""The place a block names; −1 for every other action."""
CARD_OF: Final = tuple(zip(COLOUR_OF, BIT_OF, PLACE_BLOCKED, strict=True))
"""All three at once."""
VALUES: Final = bytes(
    action.value if action.kind == "play" and action.value is not None else NOTHING for action in ACTIONS
).ljust(256, bytes([NOTHING]))
"""Translates the actions of a trick into the values that count; `NOTHING` for what does not."""


def _plays(colour: int) -> list[tuple[int, ...]]:
    """A colour's plays by mask: those of the cards as they lie, then that of the 6/9 as 9."""
    first = PLAYS + colour * PLAYS_A_COLOUR
    table: list[tuple[int, ...]] = [()]
    for play in range(first, first + COLOUR_SIZE):
        table += [(*plays, play) for plays in table]
    return [(*plays, first + AS_NINE) if mask >> SIX & 1 else plays for mask, plays in enumerate(table)]


PLAYS_OF: Final = tuple(map(_plays, range(len(COLOURS))))
"""`PLAYS_OF[colour][mask]`: the plays these cards offer, without blocks (S11)."""
BLOCKS_OF: Final = tuple(
    tuple(
        tuple(range(PLAYS + colour * PLAYS_A_COLOUR + BLOCKS, PLAYS + colour * PLAYS_A_COLOUR + BLOCKS + places))
        for colour in range(len(COLOURS))
    )
    for places in range(BLOCKABLE + 1)
)
"""`BLOCKS_OF[cards in the trick][colour]`: the colour's 0 as a block (S7); they come after the colour's plays."""


def masks_of(cards: Iterable[int]) -> list[int]:
    """A hand as masks, one a colour."""
    masks = [0] * len(COLOURS)
    for card in cards:
        masks[COLOUR_OF[card]] += BIT_OF[card]
    return masks


def cards_of(masks: Sequence[int]) -> bytes:
    """The cards of a hand, in card order."""
    return bytes(card for card in range(len(CARDS)) if masks[COLOUR_OF[card]] & BIT_OF[card])


def _ranking(trump: int, led: int, reverse: bool) -> bytes:
    ranks = bytearray(256)
    for index, action in enumerate(ACTIONS):
        if action.kind == "play" and action.card is not None and action.value is not None:
            colour = CARDS[action.card].colour
            rank = action.value + (1 if colour == led else 0) * 20 + (2 if colour == trump else 0) * 20
            ranks[index] = 100 - rank if reverse else 1 + rank
    return bytes(ranks)


RANKING: Final = tuple(
    tuple(tuple(_ranking(trump, led, reverse) for led in range(len(COLOURS))) for reverse in (False, True))
    for trump in range(NO_TRUMP + 1)
)
"""`RANKING[trump][an odd number of counting 4s][led colour]` (S9, S10)."""
