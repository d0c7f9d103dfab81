"""Rows of ladders and histories as a server might send them, for tests of drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from arena.store.base.rows import LadderRow, LadderRows, RatedRow

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTHING: Final = {"int": 0, "float": 0.0, "str": "", "bool": False}
"""Default values of a row's fields by type. Optional fields default to None."""


def row(**figures: Any) -> LadderRow:
    """Return the row of a bot with the given figures."""
    nothing: dict[str, Any] = {field.name: NOTHING.get(str(field.type)) for field in fields(LadderRow)}
    return LadderRow(**(nothing | figures))


SETTLED = row(
    rank=1,
    bot="ann",
    owner="ann",
    rating=1700.0,
    deviation=20.0,
    matches=400,
    wins=150,
    mean_rank=0.31,
    last_change=-3.2,
    rank_low=1,
    rank_high=2,
    best=0.7,
    opponents=12,
    live=1710.4,
    live_deviation=25.0,
    fitted=1710.4,
    fitted_deviation=25.0,
    forced_share=0.012,
    mean_points=61.26,
    last_match=NOON,
)
SECOND = replace(SETTLED, rank=2, bot="bob", owner="Bob & sons", rating=1650.0, best=0.3, forced_share=None)
HOUSE = replace(SETTLED, rank=3, bot="house-careful", house=True, rating=1500.0, rank_low=3, rank_high=3, best=0.0)
NEW = replace(
    HOUSE,
    rank=4,
    bot="eve",
    owner="eve",
    house=False,
    rating=1480.0,
    deviation=120.0,
    opponents=2,
    provisional=True,
    best=0.0002,
)
UNFITTED = replace(
    NEW, rank=5, bot="zoe", owner="zoe", deviation=300.0, best=None, opponents=0, fitted=None, fitted_deviation=None
)


def ladder(*rows: LadderRow, seats: int = 0, through: int | None = 812) -> LadderRows:
    """Return a ladder of the given rows."""
    return LadderRows(
        game="sixth_sense",
        seats=seats,
        standings=rows,
        through=through,
        digest="00" * 32 if through else "",
        published=NOON if through and not seats else None,
        scale_error=15.0 if through else None,
    )


def moves(*ratings: float, deviation: float = 50.0, refits: Sequence[int] = ()) -> list[RatedRow]:
    """Return the changes in a live rating after matches 1, 2, and so on. A fit precedes each match in `refits`."""
    return [
        RatedRow(
            match_id=match,
            ended=NOON,
            version="",
            before=before + 7 * (match in refits),
            after=after,
            deviation=deviation,
            voided=False,
        )
        for match, (before, after) in enumerate(pairwise(ratings), start=1)
    ]
