# Compiled: every decision passes through here.
"""Protobuf encoding of Nullern's views and round reports."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from arena_client.v1 import nullern_pb2

from arena.protobuf.fields import CACHED_PARTS, small_fields, small_map_fields
from engine.nullern import NULLERN, NullernRound, NullernView

_View: Final = nullern_pb2.NullernView
_SEAT: Final = small_fields(_View, "seat")
_HAND: Final = small_fields(_View, "hand")
_BIDS: Final = small_map_fields(_View, "bids")
_PLAYS: Final = small_fields(_View, "plays")
_LEADERS: Final = small_fields(_View, "leaders")
_TAKERS: Final = small_fields(_View, "takers")
_TAKEN: Final = small_fields(_View, "taken")
_HUPFERS: Final = small_fields(_View, "hupfers")
assert len(NULLERN.cards) < 128, "every number and every length in a view is small"


def encode_view(view: NullernView) -> bytes:
    """Serialize the view of a seat. The fields that are constant during a round come first and are cached."""
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
            _bids(bids),
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


@lru_cache(maxsize=CACHED_PARTS)
def _bids(bids: bytes) -> bytes:
    """Serialize the map of bids. The result is cached, because bids do not change after the last bid of a round."""
    return b"".join([entries[bid] for entries, bid in zip(_BIDS, bids, strict=False)])


@lru_cache(maxsize=CACHED_PARTS)
def _settled(
    seats: int,
    round: int,  # noqa: A002 - the field's name
    rounds: int,
    dealer: int,
    hand_size: int,
    turned: int,
    scores: tuple[int, ...],
) -> bytes:
    """Serialize the fields that are the same for all seats from the start of the round to its end."""
    return _View(
        seats=seats,
        round=round,
        rounds=rounds,
        dealer=dealer,
        cards_each=hand_size,
        turned=turned,
        scores=scores,
    ).SerializeToString()


def encode_round(report: NullernRound) -> nullern_pb2.NullernRound:
    """Encode the report of a finished round."""
    return nullern_pb2.NullernRound(
        turned=report.turned,
        bids=report.bids,
        plays=report.plays,
        leaders=report.leaders,
        takers=report.takers,
        taken=report.taken,
        missed=map(bool, report.missed),
        hupfers=report.hupfers,
    )
