"""6th Sense on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from arena.v1 import sixth_sense_pb2
from arena.wire.packed import SETTLED, packed
from engine.sixth_sense import SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import BLOCKABLE, CARDS, HIDDEN_BLOCKS

_PackedView: Final = packed("SixthSenseView")
assert max(len(CARDS), HIDDEN_BLOCKS + BLOCKABLE - 1) < 128, "every number in a view fits a packed byte"


def encode_view(view: SixthSenseView) -> bytes:
    """The view of a seat, serialized: what changes with every card, after what hardly changes during a round."""
    *settled, hand, prediction, plays, leaders, takers, worths, peeks, taken, scores, known = view
    moving = _PackedView(
        hand=hand, plays=plays, leaders=leaders, takers=takers, worths=worths, peeks=peeks, taken=taken
    )
    serialized: bytes = _settled(*settled, prediction, scores, known) + moving.SerializeToString()
    return serialized


@lru_cache(maxsize=SETTLED)
def _settled(
    seat: int,
    seats: int,
    round: int,  # noqa: A002 - the field's name
    rounds: int,
    target: int,
    novice: bool,
    late_trump: bool,
    dealer: int,
    hand_size: int,
    turned: int | None,
    prediction: int | None,
    scores: tuple[int, ...],
    known_predictions: bytes,
) -> bytes:
    return bytes(
        _PackedView(
            seat=seat,
            seats=seats,
            round=round,
            rounds=rounds,
            target=target,
            novice=novice,
            late_trump=late_trump,
            dealer=dealer,
            hand_size=hand_size,
            turned=turned,
            prediction=prediction,
            scores=scores,
            known_predictions=known_predictions,
        ).SerializeToString()
    )


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
