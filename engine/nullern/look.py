"""Looking at a game of Nullern as a seat may, and at a round that is over as all may.

`look` builds a view up from what the seat may know: its own cards, unless the round is blind, and what lies open on
the table. It never copies the state and takes things away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.nullern.tricks import first_leader
from engine.nullern.view import NullernRound, NullernView

if TYPE_CHECKING:
    from engine.nullern.state import NullernState


@dataclass(slots=True)
class Finished:
    """The record of a round that is over; nobody changes it any more."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    turned: int
    bids: bytearray
    plays: bytes
    takers: bytes
    missed: bytes
    hupfers: bytes


def look(state: NullernState, seat: int) -> NullernView:
    """What the seat may know now."""
    seats = state.seats
    takers = state.takers
    return NullernView(  # by position: a third of the time that names take
        seat,
        seats,
        state.round,
        state.rounds,
        state.dealer,
        state.hand_size,
        state.turned,
        b"" if state.blind else state.hands[seat],
        bytes(state.bids),
        state.plays,
        b"" if 0 in state.bids else _leaders(state.bids, state.dealer, takers)[: state.hand_size],
        takers,
        _taken(takers, seats),
        state.scores,
        state.hupfers,
    )


def face_up(finished: Finished) -> NullernRound:
    """The report of a round that is over."""
    seats = len(finished.bids)
    return NullernRound(
        round=finished.round,
        points=finished.points,
        scores=finished.scores,
        turned=finished.turned,
        bids=bytes([bid - 1 for bid in bytes(finished.bids)]),
        plays=finished.plays,
        leaders=_leaders(finished.bids, finished.round % seats, finished.takers)[:-1],
        takers=finished.takers,
        taken=_taken(finished.takers, seats),
        missed=finished.missed,
        hupfers=finished.hupfers,
    )


def _leaders(bids: bytearray, dealer: int, takers: bytes) -> bytes:
    """The leader of every completed trick and of the one after (N4)."""
    return bytes((first_leader(bids, dealer),)) + takers


def _taken(takers: bytes, seats: int) -> bytes:
    """Tricks taken, by seat."""
    return bytes([takers.count(seat) for seat in range(seats)])
