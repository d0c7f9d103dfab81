"""Nullern on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from typing import Any, Final

from arena.v1 import nullern_pb2
from arena.wire.packed import packed
from engine.nullern import NULLERN, NullernRound, NullernView

_PackedView: Final = packed("NullernView")
assert len(NULLERN.cards) <= 128, "every number in a view fits a packed byte"


def encode_view(view: NullernView) -> Any:
    """The view of a seat, in packed form."""
    return _PackedView(
        seat=view.seat,
        seats=view.seats,
        round=view.round,
        rounds=view.rounds,
        dealer=view.dealer,
        hand_size=view.hand_size,
        turned=view.turned,
        hand=view.hand,
        bids=view.bids,
        plays=view.plays,
        leaders=view.leaders,
        takers=view.takers,
        taken=view.taken,
        scores=view.scores,
        hupfers=view.hupfers,
    )


def encode_round(report: NullernRound) -> nullern_pb2.NullernRound:
    """A round that is over."""
    return nullern_pb2.NullernRound(
        turned=report.turned,
        bids=report.bids,
        plays=report.plays,
        leaders=report.leaders,
        takers=report.takers,
        taken=report.taken,
        missed=report.missed,
        hupfers=report.hupfers,
    )
