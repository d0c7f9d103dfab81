"""Build a seat's view of a game of Nullern.

`observe` builds a view from the open cards on the table and, unless the round is blind, the seat's own cards. It never
copies the whole state to remove secrets afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.nullern.observation import Seen
from engine.nullern.view import NullernView

if TYPE_CHECKING:
    from engine.nullern.state import NullernState

_filled: Final = tuple.__new__
"""Creates a view from its fields, in a third of the time that the view's own `__new__` takes."""


def observe(state: NullernState, seat: int) -> NullernView:
    """Return the seat's current view."""
    return _filled(
        NullernView,
        (
            seat,
            state.seats,
            state.round,
            state.rounds,
            state.dealer,
            state.hand_size,
            state.turned,
            b"" if state.blind else state.hands[seat],
            state.bids,
            state.plays,
            state.leaders,
            state.takers,
            state.taken,
            state.scores,
            state.hupfers,
        ),
    )


def seen(state: NullernState, seat: int) -> Seen:
    """Return the seat's current view as vectors use it: without the cards in hand."""
    return Seen(
        seat,
        state.round,
        state.hand_size,
        state.turned,
        state.bids,
        state.plays,
        state.leaders,
        state.takers,
        state.taken,
        state.scores,
        state.hupfers,
    )
