"""What a seat may see of a game of 6th Sense, and what all see of a round that is over.

`look` builds a view up from what the seat may know: its own cards, what was played openly, and the prediction cards it
peeked at. It never copies the state and takes things away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from engine.game import RoundReport, SeatView
from engine.sixth_sense.cards import COLOURS, HIDDEN_BLOCKS
from engine.sixth_sense.tricks import HELD, PLACE_BLOCKED

if TYPE_CHECKING:
    from engine.sixth_sense.state import SixthSenseState


@dataclass(frozen=True, slots=True)
class SixthSenseView(SeatView):
    """Everything one seat may know: enough to choose without any memory of earlier views.

    Cards and actions are indices; what goes by seat or by trick is one small int each. A trick begins when its
    leader is to play.
    """

    seats: int
    round: int
    rounds: int
    """0 when played to a target score."""
    target: int
    """0 when the number of rounds is fixed."""
    novice: bool
    dealer: int
    hand_size: int
    """Cards dealt to each seat, the prediction card among them."""
    turned: int | None
    """The card turned over; None where none is, or not yet."""
    hand: bytes
    """The cards in hand, in card order, without the prediction card."""
    prediction: int | None
    """The own prediction card; None until chosen."""
    plays: bytes
    """The actions of all tricks, one after the other; another seat's block shows its place but not its card."""
    leaders: bytes
    """By trick, the one in progress included."""
    takers: bytes
    """By completed trick; the number of seats where nobody took it (S8)."""
    worths: bytes
    """By completed trick: 0, 1 or 2; 1 while it waits for the taker's choice."""
    peeks: bytes
    """By completed trick: 1 where its leader looked at the taker's prediction card."""
    taken: bytes
    """Tricks taken this round, by seat."""
    scores: tuple[int, ...]
    """Points before this round, by seat."""
    known_predictions: bytes
    """By seat: the prediction card plus one, or 0 where this seat does not know it."""


@dataclass(frozen=True, slots=True)
class SixthSenseRound(RoundReport):
    """A round that is over, everything face up; `plays` shows the cards of blocks."""

    turned: int | None
    predictions: bytes
    plays: bytes
    leaders: bytes
    takers: bytes
    worths: bytes
    taken: bytes


def look(state: SixthSenseState, seat: int) -> SixthSenseView:
    """What the seat may know now."""
    seats = state.seats
    own = state.predictions[seat]
    leaders = state.leaders()
    known = bytearray(seats)
    if own is not None:
        known[seat] = own + 1
    for trick, taker in enumerate(state.takers):
        if state.peeked >> trick & 1 and leaders[trick] == seat:
            card = state.predictions[taker]
            assert card is not None
            known[taker] = card + 1
    colours = len(COLOURS)
    return SixthSenseView(
        seat=seat,
        seats=seats,
        round=state.round,
        rounds=state.rounds,
        target=state.target,
        novice=state.novice,
        dealer=state.round % seats,
        hand_size=state.hand_size,
        turned=state.turned,
        hand=bytes(
            chain.from_iterable(map(_cards, range(colours), state.hands[seat * colours : (seat + 1) * colours]))
        ),
        prediction=own,
        plays=_seen(state.plays, leaders, seats, seat),
        leaders=leaders,
        takers=state.takers,
        worths=state.worths(),
        peeks=bytes(state.peeked >> trick & 1 for trick in range(len(state.takers))),
        taken=state.taken(),
        scores=state.scores,
        known_predictions=bytes(known),
    )


def _cards(colour: int, mask: int) -> Sequence[int]:
    return HELD[colour][mask]


def _seen(plays: bytes, leaders: bytes, seats: int, seat: int) -> bytes:
    """The plays with the cards of other seats' blocks face down (S7)."""
    seen = bytearray(plays)
    for index, action in enumerate(plays):
        if PLACE_BLOCKED[action] >= 0 and (leaders[index // seats] + index) % seats != seat:
            seen[index] = HIDDEN_BLOCKS + PLACE_BLOCKED[action]
    return bytes(seen)
