"""6th Sense on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from arena.v1 import sixth_sense_pb2
from arena.wire.packed import SETTLED, small
from engine.sixth_sense import SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import BLOCKABLE, CARDS, HIDDEN_BLOCKS

_View: Final = sixth_sense_pb2.SixthSenseView
_SEAT: Final = small(_View, "seat")
_HAND: Final = small(_View, "hand")
_PREDICTION: Final = small(_View, "prediction")
_PLAYS: Final = small(_View, "plays")
_LEADERS: Final = small(_View, "leaders")
_TAKERS: Final = small(_View, "takers")
_WORTHS: Final = small(_View, "worths")
_PEEKS: Final = small(_View, "peeks")
_TAKEN: Final = small(_View, "taken")
_KNOWN: Final = small(_View, "known_predictions")
assert max(len(CARDS), HIDDEN_BLOCKS + BLOCKABLE - 1) < 128, "every number and every length in a view is small"


def encode_view(view: SixthSenseView) -> bytes:
    """The view of a seat, serialized: what hardly changes during a round, before what changes with every card."""
    (
        seat,
        seats,
        number,
        rounds,
        target,
        novice,
        late_trump,
        dealer,
        hand_size,
        turned,
        hand,
        prediction,
        plays,
        leaders,
        takers,
        worths,
        peeks,
        taken,
        scores,
        known,
    ) = view
    return b"".join(
        (
            _settled(seats, number, rounds, target, novice, late_trump, dealer, hand_size, turned, scores),
            _SEAT[seat],
            b"" if prediction is None else _PREDICTION[prediction],
            _HAND[len(hand)],
            hand,
            _PLAYS[len(plays)],
            plays,
            _LEADERS[len(leaders)],
            leaders,
            _TAKERS[len(takers)],
            takers,
            _WORTHS[len(worths)],
            worths,
            _PEEKS[len(peeks)],
            peeks,
            _TAKEN[len(taken)],
            taken,
            _KNOWN[len(known)],
            known,
        )
    )


@lru_cache(maxsize=SETTLED)
def _settled(
    seats: int,
    round: int,  # noqa: A002 - the field's name
    rounds: int,
    target: int,
    novice: bool,
    late_trump: bool,
    dealer: int,
    hand_size: int,
    turned: int | None,
    scores: tuple[int, ...],
) -> bytes:
    """What all seats see alike from the turning of the trump to the end of the round."""
    return _View(
        seats=seats,
        round=round,
        rounds=rounds,
        target=target,
        novice=novice,
        late_trump=late_trump,
        dealer=dealer,
        hand_size=hand_size,
        turned=turned,
        scores=scores,
    ).SerializeToString()


def encode_round(report: SixthSenseRound) -> sixth_sense_pb2.SixthSenseRound:
    """A round that is over."""
    return sixth_sense_pb2.SixthSenseRound(
        turned=report.turned,
        predictions=report.predictions,
        plays=report.plays,
        leaders=report.leaders,
        takers=report.takers,
        worths=report.worths,
        taken=report.taken,
    )
