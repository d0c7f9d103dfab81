"""The first page, and the ladder of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from arena.client.source import DataSource
from arena.store.rows import LadderRow, LadderRows, MatchRow
from arena.web.asked import game_asked, number_asked
from arena.web.responses import page

CONFIDENCE: Final = 1.96
"""Standard errors to either side of a 95 % interval."""
FIRST: Final = 10
"""Bots and matches on the first page."""
WIDTH: Final = 200
"""Units across a drawn interval."""


class Interval(NamedTuple):
    """A rating's 95 % interval on the scale of a ladder, in units from its left end."""

    left: float
    middle: float
    right: float


async def home(request: Request) -> Response:
    """Show the best of each ladder and the newest matches."""

    def query(source: DataSource) -> tuple[list[LadderRows], tuple[MatchRow, ...]]:
        return [source.ladder(game) for game in source.games()], source.matches(limit=FIRST)

    ladders, matches = await request.app.state.reader.read(query)
    drawn = [(ladder, ladder.standings[:FIRST], _intervals(ladder.standings[:FIRST])) for ladder in ladders]
    return page(request, "home.html", ladders=drawn, matches=matches)


async def ladder(request: Request) -> Response:
    """Show one ladder, of all tables or of those of one size."""
    game, seats = game_asked(request), number_asked(request, "seats", 100) or 0
    found = await request.app.state.reader.read(lambda source: source.ladder(game, seats))
    return page(request, "ladder.html", ladder=found, rows=found.standings, intervals=_intervals(found.standings))


def _intervals(rows: Sequence[LadderRow]) -> list[Interval]:
    """Put all ratings on one scale, which fits the intervals of settled bots; wider ones are cut."""
    if not rows:
        return []
    settled = [row for row in rows if not row.provisional] or rows
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
