"""Playing out a trick by table look-up: what may follow (S5–S7, S11) and who takes it (S8–S10).

A seat's cards of one colour are a mask of 14 bits, bit = rank. Who takes a trick is read off `RANKING`, which
translates the trick's actions into ranks: the highest rank takes it, the last of equals; what does not count has
rank 0.
"""

from __future__ import annotations

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
NOTHING: Final = b"\xff"
"""Stands in a trick for a card that was blocked; no action has this index."""

COLOUR_OF: Final = bytes(CARDS[action.card].colour if action.card is not None else 0 for action in ACTIONS)
"""The colour of the card an action predicts or plays."""
BIT_OF: Final = tuple(1 << action.card % COLOUR_SIZE if action.card is not None else 0 for action in ACTIONS)
"""The card's bit in its colour's mask."""
PLACE_BLOCKED: Final = tuple(-1 if action.place is None else action.place for action in ACTIONS)
"""The place a block names; −1 for every other action."""

_DOES_NOT_COUNT: Final = 255
VALUES: Final = bytes(
    action.value if action.kind == "play" and action.value is not None else _DOES_NOT_COUNT for action in ACTIONS
) + bytes([_DOES_NOT_COUNT]) * (256 - len(ACTIONS))
"""Translates the actions of a trick into the values that count."""


class _Table(dict[int, tuple[int, ...]]):
    """Actions by mask, each entry made when it is first needed."""

    __slots__ = ("_actions",)

    def __init__(self, actions: tuple[tuple[int, ...], ...]) -> None:
        """Takes the actions that each rank offers."""
        super().__init__()
        self._actions = actions

    def __missing__(self, mask: int) -> tuple[int, ...]:
        """The actions of all ranks in the mask, rising."""
        found = self[mask] = tuple(
            sorted(action for rank, offers in enumerate(self._actions) if mask >> rank & 1 for action in offers)
        )
        return found


def _offers(colour: int, blockable: int) -> tuple[tuple[int, ...], ...]:
    """The plays of a colour by rank with the first `blockable` places of the trick open to a block."""
    first = PLAYS + colour * PLAYS_A_COLOUR
    offers = [[first + rank] for rank in range(COLOUR_SIZE)]
    offers[SIX].append(first + AS_NINE)
    offers[0].extend(first + BLOCKS + place for place in range(blockable))
    return tuple(map(tuple, offers))


FOLLOWS: Final = tuple(
    tuple(_Table(_offers(colour, blockable)) for colour in range(len(COLOURS))) for blockable in range(BLOCKABLE + 1)
)
"""`FOLLOWS[places open to a block][colour][mask]`: the plays these cards offer."""
HELD: Final = tuple(
    _Table(tuple((colour * COLOUR_SIZE + rank,) for rank in range(COLOUR_SIZE))) for colour in range(len(COLOURS))
)
"""`HELD[colour][mask]`: the cards, which are also the actions that predict them."""


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
