# Compiled: every decision passes through here.
"""Protobuf encoding of 6th Sense's views and round reports."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from arena_client.v1 import sixth_sense_pb2

from arena.protobuf.fields import CACHED_PARTS, small_fields, small_map_fields
from engine.sixth_sense import SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import BLOCKABLE, CARDS, HIDDEN_BLOCKS

_View: Final = sixth_sense_pb2.SixthSenseView
_SEAT: Final = small_fields(_View, "seat")
_HAND: Final = small_fields(_View, "hand")
_PREDICTION: Final = small_fields(_View, "prediction")
_PLAYS: Final = small_fields(_View, "plays")
_LEADERS: Final = small_fields(_View, "leaders")
_TAKERS: Final = small_fields(_View, "takers")
_WORTHS: Final = small_fields(_View, "worths")
_PEEKS: Final = small_fields(_View, "peeks")
_TAKEN: Final = small_fields(_View, "taken")
_KNOWN: Final = small_map_fields(_View, "known_predictions")
assert max(len(CARDS), HIDDEN_BLOCKS + BLOCKABLE - 1) < 128, "every number and every length in a view is small"


def encode_view(view: SixthSenseView) -> bytes:
    """Serialize the view of a seat. The fields that are constant during a round come first and are cached."""
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
            _known_predictions(known),
        )
    )


@lru_cache(maxsize=CACHED_PARTS)
def _known_predictions(known: bytes) -> bytes:
    """Serialize the map of the predictions that a seat knows, which changes only a few times in a round."""
    return b"".join([entries[card] for entries, card in zip(_KNOWN, known, strict=False)])


@lru_cache(maxsize=CACHED_PARTS)
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
    """Serialize the fields that are the same for all seats. They are constant from the turning of the trump to the end
    of the round.
    """
    return _View(
        seats=seats,
        round=round,
        rounds=rounds or None,
        target=target or None,
        novice=novice,
        late_trump=late_trump,
        dealer=dealer,
        cards_each=hand_size,
        turned=turned,
        scores=scores,
    ).SerializeToString()


def encode_round(report: SixthSenseRound) -> sixth_sense_pb2.SixthSenseRound:
    """Encode the report of a finished round."""
    return sixth_sense_pb2.SixthSenseRound(
        turned=report.turned,
        predictions=report.predictions,
        plays=report.plays,
        leaders=report.leaders,
        takers=report.takers,
        worths=report.worths,
        taken=report.taken,
    )
