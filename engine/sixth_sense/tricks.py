"""Tricks by table look-up: the legal plays (S5–S7, S11) and the seat that takes the trick (S8–S10).

A hand is a string of the plays it offers, without blocks and in ascending order: the plays of a card are consecutive,
as are those of a colour. `RANKING` translates the actions of a trick into ranks: the highest rank takes the trick;
among equal ranks, the last. Actions that do not count have rank 0.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from typing import Final

from engine.byte_lists import SINGLE
from engine.sixth_sense.cards import ACTIONS, BLOCKABLE, BLOCKS, CARDS, COLOURS, HIDDEN_BLOCKS, PLAYS_A_COLOUR, PREDICT

NO_TRUMP: Final = len(COLOURS)
NOTHING: Final = 255
"""Marks a blocked card in a trick; no action has this index."""

_PLAYS: Final = [(index, action) for index, action in enumerate(ACTIONS) if action.kind == "play"]
PLAYS_OF: Final = tuple(bytes(index for index, action in _PLAYS if action.card == card) for card in range(len(CARDS)))
"""For each card, the plays it offers: one, or two for a 6/9 (S11)."""
GONE: Final = tuple(b"" if action.card is None else PLAYS_OF[action.card] for action in ACTIONS)
"""For each action, all plays of the same card. None of them is possible after the action."""
COLOUR_OF: Final = tuple(0 if action.card is None else CARDS[action.card].colour for action in ACTIONS)
"""The colour of each action's card."""
PLACE_BLOCKED: Final = tuple(-1 if action.place is None else action.place for action in ACTIONS)
"""The place that each action blocks; −1 for an action that is not a block."""
OTHERS: Final = tuple(bytes(index for index, _ in _PLAYS if COLOUR_OF[index] != led) for led in range(len(COLOURS)))
"""For each colour, the plays of all other colours. Deleting these from a hand leaves the plays that follow (S5)."""
ZEROS: Final = tuple(index for index, action in _PLAYS if action.value == 0)
"""By colour, the play of its 0 as a card, not as a block."""
_IS_ZERO: Final = bytes(index in ZEROS for index in range(256))
BLOCKS_OF: Final = tuple(
    tuple(bytes(range(first + BLOCKS, first + BLOCKS + places)) for first in range(0, HIDDEN_BLOCKS, PLAYS_A_COLOUR))
    for places in range(BLOCKABLE + 1)
)
"""`BLOCKS_OF[cards in the trick][colour]`: the blocks with the colour's 0 (S7), the last of the colour's plays."""
VALUES: Final = bytes(
    action.value if action.kind == "play" and action.value is not None else NOTHING for action in ACTIONS
).ljust(256, bytes([NOTHING]))
"""Translates the actions of a trick into the values that count; `NOTHING` for actions without one."""

_SECOND: Final = SINGLE[NOTHING]
_CARD: Final = bytes(NOTHING if action.value == 9 else action.card or 0 for action in ACTIONS).ljust(256, b"\0")
_PREDICTION: Final = bytes(card if card == NOTHING else PREDICT + card for card in _CARD)


def hand_of(cards: Iterable[int]) -> bytes:
    """Return the hand that consists of these cards."""
    return b"".join([PLAYS_OF[card] for card in sorted(cards)])


def cards_of(hand: bytes) -> bytes:
    """Return the cards of a hand, in card order."""
    return hand.translate(_CARD).replace(_SECOND, b"")  # Translating and deleting at once takes twice as long.


def predictions_of(hand: bytes) -> bytes:
    """Return the predictions a hand offers (S4)."""
    return hand.translate(_PREDICTION).replace(_SECOND, b"")


def with_blocks(hand: bytes, places: int) -> bytes:
    """Return all plays of a hand, including its 0s as blocks of the first `places` places (S7)."""
    if 1 not in hand.translate(_IS_ZERO):
        return hand
    for colour, zero in enumerate(ZEROS):
        if zero in hand:
            end = bisect(hand, zero + BLOCKS)
            hand = hand[:end] + BLOCKS_OF[places][colour] + hand[end:]
    return hand


def _ranking(trump: int, led: int, reverse: bool) -> bytes:
    ranks = bytearray(256)
    for index, _ in _PLAYS:
        colour = COLOUR_OF[index]
        rank = VALUES[index] + (1 if colour == led else 0) * 20 + (2 if colour == trump else 0) * 20
        ranks[index] = 100 - rank if reverse else 1 + rank
    return bytes(ranks)


RANKING: Final = tuple(
    tuple(tuple(_ranking(trump, led, reverse) for led in range(len(COLOURS))) for reverse in (False, True))
    for trump in range(NO_TRUMP + 1)
)
"""`RANKING[trump][True if an odd number of 4s count][led colour]` (S9, S10)."""
