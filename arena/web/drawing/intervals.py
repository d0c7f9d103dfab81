"""Ratings' 95 % intervals on the scale of a ladder, ready to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import LadderRow, PastLadderRow

UNSETTLED: Final = 40.0
"""Standard error, in Elo, above which a rating of the past was provisional."""
WIDTH: Final = 200
"""Units across a drawn interval."""


class Interval(NamedTuple):
    """A rating's 95 % interval on the scale of a ladder, in units from its left end."""

    left: float
    middle: float
    right: float


def _provisional(row: LadderRow | PastLadderRow) -> bool:
    return row.provisional if isinstance(row, LadderRow) else row.fitted_deviation > UNSETTLED


def intervals(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> list[Interval]:
    """Put all ratings on one scale, which fits the intervals of settled bots; wider ones are cut."""
    if not rows:
        return []
    settled = [row for row in rows if not _provisional(row)] or rows
    low = min(*(row.rating for row in rows), *(row.rating - CONFIDENCE * row.deviation for row in settled))
    high = max(*(row.rating for row in rows), *(row.rating + CONFIDENCE * row.deviation for row in settled), low + 1)

    def at(rating: float) -> float:
        return round(min(max((rating - low) / (high - low), 0), 1) * WIDTH, 1)

    return [
        Interval(
            at(row.rating - CONFIDENCE * row.deviation), at(row.rating), at(row.rating + CONFIDENCE * row.deviation)
        )
        for row in rows
    ]
