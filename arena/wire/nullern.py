"""Nullern on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from arena.v1 import nullern_pb2
from arena.wire.packed import SETTLED, packed
from engine.nullern import NULLERN, NullernRound, NullernView

_PackedView: Final = packed("NullernView")
assert len(NULLERN.cards) <= 128, "every number in a view fits a packed byte"


def encode_view(view: NullernView) -> bytes:
    """The view of a seat, serialized: what changes with every card, after what hardly changes during a round."""
    *settled, hand, bids, plays, leaders, takers, taken, scores, hupfers = view
    moving = _PackedView(hand=hand, plays=plays, leaders=leaders, takers=takers, taken=taken)
    serialized: bytes = _settled(*settled, bids, scores, hupfers) + moving.SerializeToString()
    return serialized


@lru_cache(maxsize=SETTLED)
def _settled(
    seat: int,
    seats: int,
    round: int,  # noqa: A002 - the field's name
    rounds: int,
    dealer: int,
    hand_size: int,
    turned: int,
    bids: bytes,
    scores: tuple[int, ...],
    hupfers: bytes,
) -> bytes:
    return bytes(
        _PackedView(
            seat=seat,
            seats=seats,
            round=round,
            rounds=rounds,
            dealer=dealer,
            hand_size=hand_size,
            turned=turned,
            bids=bids,
            scores=scores,
            hupfers=hupfers,
        ).SerializeToString()
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
