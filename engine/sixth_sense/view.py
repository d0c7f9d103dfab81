"""A seat's view of a game of 6th Sense, and the public report of a finished round, as plain values."""

from __future__ import annotations

from typing import NamedTuple


class SixthSenseView(NamedTuple):
    """Everything that one seat may know: enough to choose an action without remembering earlier views.

    Cards and actions are indices; entries by seat or by trick are small ints. A trick begins when its leader is to
    play.
    """

    seat: int
    seats: int
    round: int
    rounds: int
    """Number of rounds; 0 if the game is played to a target score."""
    target: int
    """The target score; 0 when the number of rounds is fixed."""
    novice: bool
    late_trump: bool
    """True if a card is turned over only when all predictions are in (S16)."""
    dealer: int
    hand_size: int
    """Cards dealt to each seat, the prediction card among them."""
    turned: int | None
    """The card turned over; None if there is none, or none yet."""
    hand: bytes
    """The cards in hand, in card order, without the prediction card."""
    prediction: int | None
    """The seat's own prediction card; None until chosen."""
    plays: bytes
    """The actions of all tricks, one after the other; another seat's block shows its place but not its card."""
    leaders: bytes
    """Leaders by trick, including the trick in progress."""
    takers: bytes
    """Takers by completed trick; the number of seats stands for no taker (S8)."""
    worths: bytes
    """Values by completed trick: 0, 1 or 2; 1 while the taker's choice is open."""
    peeks: bytes
    """By completed trick: 1 if its leader looked at the taker's prediction card."""
    taken: bytes
    """Tricks taken this round, by seat."""
    scores: tuple[int, ...]
    """Points before this round, by seat."""
    known_predictions: bytes
    """By seat: the prediction card plus one, or 0 if this seat does not know it."""


class SixthSenseRound(NamedTuple):
    """A finished round with all cards shown; `plays` shows the cards of blocks."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    turned: int | None
    predictions: bytes
    plays: bytes
    leaders: bytes
    takers: bytes
    worths: bytes
    taken: bytes
