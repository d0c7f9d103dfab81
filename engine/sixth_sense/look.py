"""Looking at a game of 6th Sense as a seat may, and at a round that is over as all may.

`look` builds a view up from what the seat may know: its own cards, what was played openly, and the prediction cards it
peeked at. It never copies the state and takes things away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.sixth_sense.cards import CARDS, HIDDEN_BLOCKS
from engine.sixth_sense.record import Finished, leaders, taken, tricks, worths
from engine.sixth_sense.tricks import PLACE_BLOCKED, SINGLE, cards_of
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView

if TYPE_CHECKING:
    from engine.sixth_sense.state import SixthSenseState

_OPEN: Final = bytes(action for action in range(256) if action >= HIDDEN_BLOCKS or PLACE_BLOCKED[action] < 0)
"""All actions but blocks: what is left of plays without them is blocks."""
_OWN: Final = tuple(
    tuple(
        tuple(bytes(seat) + SINGLE[known] + bytes(seats - seat - 1) for known in range(len(CARDS) + 1))
        for seat in range(seats)
    )
    for seats in range(7)
)
"""`_OWN[seats][seat][card + 1]`: the prediction cards known to a seat that knows its own only."""


def look(state: SixthSenseState, seat: int) -> SixthSenseView:
    """What the seat may know now."""
    seats, hand_size, rounds, target, novice, late_trump, _ = state.setting
    record = state.record
    if record is None:
        record = tricks(state.round, state.begun, state.takers, state.doubled, state.peeked, seats)
        state.record = record
    led, takers, worth, peeks, won = record
    own = state.predictions[seat]
    return SixthSenseView(  # by position: a third of the time that names take
        seat,
        seats,
        state.round,
        rounds,
        target,
        novice,
        late_trump,
        state.round % seats,  # the dealer
        hand_size,
        state.turned,
        cards_of(state.hands[seat]),
        own if own >= 0 else None,
        _seen(state.plays, led, seats, seat),
        led,
        takers,
        worth,
        peeks,
        won,
        state.scores,
        _known(state, led, seat) if state.peeked else _OWN[seats][seat][own + 1],
    )


def face_up(finished: Finished) -> SixthSenseRound:
    """The report of a round that is over."""
    seats = len(finished.predictions)
    return SixthSenseRound(
        round=finished.round,
        points=finished.points,
        scores=finished.scores,
        turned=finished.turned,
        predictions=bytes(finished.predictions),
        plays=finished.plays,
        leaders=leaders(finished.round, finished.takers, seats)[:-1],
        takers=finished.takers,
        worths=worths(finished.takers, finished.doubled, seats),
        taken=bytes(taken(finished.takers, finished.doubled, seats)),
    )


def _seen(plays: bytes, led: bytes, seats: int, seat: int) -> bytes:
    """The plays with the cards of other seats' blocks face down (S7)."""
    blocks = plays.translate(None, _OPEN)
    if not blocks:
        return plays
    seen = bytearray(plays)
    for action in blocks:
        index = plays.index(action)
        if (led[index // seats] + index) % seats != seat:
            seen[index] = HIDDEN_BLOCKS + PLACE_BLOCKED[action]
    return bytes(seen)


def _known(state: SixthSenseState, led: bytes, seat: int) -> bytes:
    """The prediction cards a seat knows, plus one: its own (S4), and those it peeked at (S12)."""
    known = bytearray(len(state.predictions))
    known[seat] = state.predictions[seat] + 1
    for trick in state.peeked:
        if led[trick] == seat:
            taker = state.takers[trick]
            known[taker] = state.predictions[taker] + 1
    return bytes(known)
