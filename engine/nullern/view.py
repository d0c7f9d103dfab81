"""What a seat may see of a game of Nullern, and what all see of a round that is over.

`look` builds a view up from what the seat may know: its own cards, unless the round is blind, and what lies open on
the table. It never copies the state and takes things away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.nullern.tricks import first_leader

if TYPE_CHECKING:
    from engine.nullern.state import NullernState


class NullernView(NamedTuple):
    """Everything one seat may know: enough to choose without any memory of earlier views.

    Cards are indices; what goes by seat or by trick is one small int each. A trick begins when its leader is to play.
    """

    seat: int
    seats: int
    round: int
    rounds: int
    dealer: int
    hand_size: int
    """Cards dealt to each seat."""
    turned: int
    """The card turned over; its colour is trump."""
    hand: bytes
    """The cards in hand, in card order; empty in the blind round (N8)."""
    bids: bytes
    """By seat: the bid plus one, or 0 where the seat has not bid yet."""
    plays: bytes
    """The cards of all tricks, one after the other; a blind card shows once it is played."""
    leaders: bytes
    """By trick, the one in progress included."""
    takers: bytes
    """By completed trick."""
    taken: bytes
    """Tricks taken this round, by seat."""
    scores: tuple[int, ...]
    """Points before this round, by seat, Hupfers not yet deducted; after the end the result, with them deducted."""
    hupfers: bytes
    """Hupfers before this round, by seat; after the end all of them."""


class NullernRound(NamedTuple):
    """A round that is over, everything face up; lists as in the view, but bids as they are.

    `points` never contains the cost of Hupfers; `scores` does after the last round only.
    """

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    turned: int
    bids: bytes
    plays: bytes
    leaders: bytes
    takers: bytes
    taken: bytes
    missed: bytes
    """By seat: 1 where the round brought a Hupfer, else 0."""
    hupfers: bytes
    """Hupfers after this round, by seat."""


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
