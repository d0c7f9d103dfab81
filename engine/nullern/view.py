"""A seat's view of a game of Nullern, and the public report of a finished round, as plain values."""

from __future__ import annotations

from typing import NamedTuple


class NullernView(NamedTuple):
    """Everything that one seat may know: enough to choose an action without remembering earlier views.

    Cards are indices; entries by seat or by trick are small ints. A trick begins when its leader is to play.
    """

    seat: int
    seats: int
    round: int
    rounds: int
    dealer: int
    hand_size: int
    """Number of cards dealt to each seat in this round."""
    turned: int
    """The card turned over; its colour is trump."""
    hand: bytes
    """The cards in hand, in card order; empty in the blind round (N8)."""
    bids: bytes
    """By seat: the bid plus one, or 0 if the seat has not bid yet."""
    plays: bytes
    """The cards of all tricks, one after the other; a blind card shows once it is played."""
    leaders: bytes
    """Leaders by trick, including the trick in progress."""
    takers: bytes
    """Takers by completed trick."""
    taken: bytes
    """Tricks taken this round, by seat."""
    scores: tuple[int, ...]
    """By seat, the points before this round without the cost of Hupfers; after the game, the result with that cost."""
    hupfers: bytes
    """Hupfers before this round, by seat; after the game, all Hupfers."""


class NullernRound(NamedTuple):
    """A finished round with all cards shown. Fields are as in the view, except that `bids` contains the plain bids.

    `points` never contains the cost of Hupfers; `scores` contains it only after the last round.
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
    """By seat: 1 if the round brought a Hupfer, else 0."""
    hupfers: bytes
    """Hupfers after this round, by seat."""
