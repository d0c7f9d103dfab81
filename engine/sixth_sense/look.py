"""Looking at a game of 6th Sense as a seat may, and at a round that is over as all may.

`look` builds a view up from what the seat may know: its own cards, what was played openly, and the prediction cards it
peeked at. It never copies the state and takes things away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.sixth_sense.cards import HIDDEN_BLOCKS
from engine.sixth_sense.record import Finished, leaders, taken, worths
from engine.sixth_sense.tricks import PLACE_BLOCKED, cards_of
from engine.sixth_sense.view import SixthSenseRound, SixthSenseView

if TYPE_CHECKING:
    from engine.sixth_sense.state import SixthSenseState

_FACE_DOWN: Final = bytes(
    HIDDEN_BLOCKS + PLACE_BLOCKED[action] if action < HIDDEN_BLOCKS and PLACE_BLOCKED[action] >= 0 else action
    for action in range(len(PLACE_BLOCKED))
).ljust(256, b"\0")
"""Translates plays into what all see of them."""


def look(state: SixthSenseState, seat: int) -> SixthSenseView:
    """What the seat may know now."""
    seats, hand_size, rounds, target, novice, late_trump, _ = state.setting
    takers = state.takers
    led = leaders(state.round, takers, seats)
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
        led[: state.begun],
        takers,
        worths(takers, state.doubled, seats),
        _peeks(state),
        bytes(taken(takers, state.doubled, seats)),
        state.scores,
        _known(state, led, seat),
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
    hidden = plays.translate(_FACE_DOWN)
    if hidden == plays:
        return plays
    return bytes(
        [
            action if (led[index // seats] + index) % seats == seat else hidden[index]
            for index, action in enumerate(plays)
        ]
    )


def _peeks(state: SixthSenseState) -> bytes:
    """By completed trick, whether its leader looked (S12)."""
    if not state.peeked:
        return bytes(len(state.takers))
    peeks = bytearray(len(state.takers))
    for trick in state.peeked:
        peeks[trick] = 1
    return bytes(peeks)


def _known(state: SixthSenseState, led: bytes, seat: int) -> bytes:
    """The prediction cards a seat knows, plus one: its own (S4), and those it peeked at (S12)."""
    known = bytearray(len(state.predictions))
    known[seat] = state.predictions[seat] + 1
    for trick in state.peeked:
        if led[trick] == seat:
            taker = state.takers[trick]
            known[taker] = state.predictions[taker] + 1
    return bytes(known)
