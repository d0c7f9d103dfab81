"""6th Sense on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from typing import Any, Final

from arena.v1 import sixth_sense_pb2
from arena.wire.packed import packed
from engine.sixth_sense import SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import BLOCKABLE, CARDS, HIDDEN_BLOCKS

_PackedView: Final = packed("SixthSenseView")
assert max(len(CARDS), HIDDEN_BLOCKS + BLOCKABLE - 1) < 128, "every number in a view fits a packed byte"


def encode_view(view: SixthSenseView) -> Any:
    """The view of a seat, in packed form."""
    return _PackedView(
        seat=view.seat,
        seats=view.seats,
        round=view.round,
        rounds=view.rounds,
        target=view.target,
        novice=view.novice,
        late_trump=view.late_trump,
        dealer=view.dealer,
        hand_size=view.hand_size,
        turned=view.turned,
        hand=view.hand,
        prediction=view.prediction,
        plays=view.plays,
        leaders=view.leaders,
        takers=view.takers,
        worths=view.worths,
        peeks=view.peeks,
        taken=view.taken,
        scores=view.scores,
        known_predictions=view.known_predictions,
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
