"""Nullern on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from arena.v1 import nullern_pb2
from arena.wire.packed import SETTLED, small
from engine.nullern import NULLERN, NullernRound, NullernView

_View: Final = nullern_pb2.NullernView
_SEAT: Final = small(_View, "seat")
_HAND: Final = small(_View, "hand")
_BIDS: Final = small(_View, "bids")
_PLAYS: Final = small(_View, "plays")
_LEADERS: Final = small(_View, "leaders")
_TAKERS: Final = small(_View, "takers")
_TAKEN: Final = small(_View, "taken")
_HUPFERS: Final = small(_View, "hupfers")
assert len(NULLERN.cards) < 128, "every number and every length in a view is small"


def encode_view(view: NullernView) -> bytes:
    """The view of a seat, serialized: what hardly changes during a round, before what changes with every card."""
    (
        seat,
        seats,
        number,
        rounds,
        dealer,
        hand_size,
        turned,
        hand,
        bids,
        plays,
        leaders,
        takers,
        taken,
        scores,
        hupfers,
    ) = view
    return b"".join(
        (
            _settled(seats, number, rounds, dealer, hand_size, turned, scores),
            _SEAT[seat],
            _HAND[len(hand)],
            hand,
            _BIDS[len(bids)],
            bids,
            _PLAYS[len(plays)],
            plays,
            _LEADERS[len(leaders)],
            leaders,
            _TAKERS[len(takers)],
            takers,
            _TAKEN[len(taken)],
            taken,
            _HUPFERS[len(hupfers)],
            hupfers,
        )
    )


@lru_cache(maxsize=SETTLED)
def _settled(
    seats: int,
    round: int,  # noqa: A002 - the field's name
    rounds: int,
    dealer: int,
    hand_size: int,
    turned: int,
    scores: tuple[int, ...],
) -> bytes:
    """What all seats see alike from the beginning of the round to its end."""
    return _View(
        seats=seats,
        round=round,
        rounds=rounds,
        dealer=dealer,
        hand_size=hand_size,
        turned=turned,
        scores=scores,
    ).SerializeToString()


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
