"""Playing out a trick by table look-up: what may follow (S5–S7, S11) and who takes it (S8–S10).

A seat's cards of one colour are a mask of 14 bits, bit = rank. Who takes a trick is read off `RANKING`, which
translates the trick's actions into ranks: the highest rank takes it, the last of equals; what does not count has
rank 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
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
VALUES: Final = bytes(
    action.value if action.kind == "play" and action.value is not None else NOTHING for action in ACTIONS
).ljust(256, bytes([NOTHING]))
"""Translates the actions of a trick into the values that count; `NOTHING` for what does not."""


class _Table(dict[int, tuple[int, ...]]):
    """Actions by mask of cards, rising; each entry is made when it is first needed."""

    __slots__ = ("_offers",)

    def __init__(self, offers: Sequence[tuple[int, ...]]) -> None:
        """Takes the actions that each rank offers."""
        super().__init__()
        self._offers = offers

    def __missing__(self, mask: int) -> tuple[int, ...]:
        offered = (offer for rank, offer in enumerate(self._offers) if mask >> rank & 1)
        found = self[mask] = tuple(sorted(chain.from_iterable(offered)))
        return found


def _plays_by_rank(colour: int) -> list[tuple[int, ...]]:
    first = PLAYS + colour * PLAYS_A_COLOUR
    offers: list[tuple[int, ...]] = [(first + rank,) for rank in range(COLOUR_SIZE)]
    offers[SIX] = (first + SIX, first + AS_NINE)
    return offers


PLAYS_OF: Final = tuple(_Table(_plays_by_rank(colour)) for colour in range(len(COLOURS)))
"""`PLAYS_OF[colour][mask]`: the plays these cards offer, without blocks (S11)."""
BLOCKS_OF: Final = tuple(
    tuple(PLAYS + colour * PLAYS_A_COLOUR + BLOCKS + place for place in range(BLOCKABLE))
    for colour in range(len(COLOURS))
)
"""`BLOCKS_OF[colour][place]`: the colour's 0 as a block (S7); they come after the colour's plays."""
HELD: Final = tuple(
    _Table([(colour * COLOUR_SIZE + rank,) for rank in range(COLOUR_SIZE)]) for colour in range(len(COLOURS))
)
"""`HELD[colour][mask]`: the cards, which are also the actions that predict them."""

_WHOLE_BIT: Final = tuple(1 << card for card in range(len(CARDS)))
_COLOUR_MASK: Final = (1 << COLOUR_SIZE) - 1


def masks(cards: Sequence[int]) -> tuple[int, ...]:
    """A hand as masks, one a colour."""
    whole = sum(map(_WHOLE_BIT.__getitem__, cards))
    return tuple([whole >> shift & _COLOUR_MASK for shift in range(0, len(CARDS), COLOUR_SIZE)])


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
