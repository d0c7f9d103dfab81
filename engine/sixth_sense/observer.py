"""Build a seat's view of a game of 6th Sense.

`observe` builds a view from the seat's own cards, the open plays, and the prediction cards at which the seat peeked. It
never copies the whole state to remove secrets afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.byte_lists import BLANK, SINGLE, put
from engine.sixth_sense.cards import CARDS, HIDDEN_BLOCKS
from engine.sixth_sense.observation import Seen
from engine.sixth_sense.tricks import PLACE_BLOCKED, cards_of
from engine.sixth_sense.view import SixthSenseView

if TYPE_CHECKING:
    from engine.sixth_sense.state import SixthSenseState

_filled: Final = tuple.__new__
"""Creates a view from its fields, in a third of the time that the view's own `__new__` takes."""


_KNOWN: Final = tuple(
    tuple(
        tuple(bytes(seat) + SINGLE[card] + bytes(seats - seat - 1) for card in range(len(CARDS) + 1))
        for seat in range(seats)
    )
    for seats in range(7)
)
"""`_KNOWN[seats][seat][own prediction card plus one, or 0]`: the predictions known to a seat that has not peeked."""


def observe(state: SixthSenseState, seat: int) -> SixthSenseView:
    """Return the seat's current view."""
    seats, hand_size, rounds, target, novice, late_trump, _ = state.setting
    own = state.predictions[seat]
    known = _KNOWN[seats][seat][own + 1]
    peeks = BLANK[len(state.takers)]
    if state.peeked:
        peeks, known = _peeked(state, seat, peeks, known)
    return _filled(
        SixthSenseView,
        (
            seat,
            seats,
            state.round,
            rounds,
            target,
            novice,
            late_trump,
            state.round % seats,  # The dealer.
            hand_size,
            state.turned,
            cards_of(state.hands[seat]),
            own if own >= 0 else None,
            _seen(state, seat) if state.blocks else state.plays,
            state.leaders,
            state.takers,
            state.worths,
            peeks,
            bytes(state.taken),
            state.scores,
            known,
        ),
    )


def seen(state: SixthSenseState, seat: int) -> Seen:
    """Return the seat's current view as vectors use it: without the cards in hand."""
    seats = len(state.predictions)
    own = state.predictions[seat]
    known = _KNOWN[seats][seat][own + 1]
    peeks = BLANK[len(state.takers)]
    if state.peeked:
        peeks, known = _peeked(state, seat, peeks, known)
    return Seen(
        seat,
        seats,
        state.round,
        state.turned,
        own,
        _seen(state, seat) if state.blocks else state.plays,
        state.leaders,
        state.takers,
        state.worths,
        peeks,
        state.taken,
        state.scores,
        known,
    )


def _peeked(state: SixthSenseState, seat: int, peeks: bytes, known: bytes) -> tuple[bytes, bytes]:
    """Return the tricks whose leaders peeked, and the prediction cards that the seat knows (S12)."""
    for trick in state.peeked:
        peeks = put(peeks, trick, 1)
        if state.leaders[trick] == seat:
            taker = state.takers[trick]
            known = put(known, taker, state.predictions[taker] + 1)
    return peeks, known


def _seen(state: SixthSenseState, seat: int) -> bytes:
    """Return the plays with the cards of other seats' blocks face down (S7)."""
    seats = state.setting.seats
    seen = state.plays
    for index in state.blocks:
        if (state.leaders[index // seats] + index) % seats != seat:
            seen = put(seen, index, HIDDEN_BLOCKS + PLACE_BLOCKED[seen[index]])
    return seen
