"""The first page, and the ladder of a game."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

import anyio
from starlette.requests import Request
from starlette.responses import Response

from arena.client.figures import CONFIDENCE
from arena.client.flags import MEANING
from arena.client.source import DataSource
from arena.store.rows import LadderRow, LadderRows, MatchRow, PastLadderRow
from arena.web.asked import game_asked, instant_asked, number_asked
from arena.web.reader import Missing, Reader
from arena.web.responses import page

FRESH: Final = 60.0
"""Seconds for which a ladder of one table size is shown again."""
FIRST: Final = 10
"""Bots and matches on the first page."""
UNSETTLED: Final = 40.0
"""Standard error, in Elo, above which a rating of the past was provisional."""
WIDTH: Final = 200
"""Units across a drawn interval."""


class Interval(NamedTuple):
    """A rating's 95 % interval on the scale of a ladder, in units from its left end."""

    left: float
    middle: float
    right: float


class TableLadders:
    """Ladders of one table size. Each is fitted for who asks: one at a time, and kept for a while."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: dict[tuple[str, int], tuple[float, LadderRows]] = {}
        self._turn = anyio.Lock()
        """Who waits for another's fit keeps no thread from other pages."""

    async def ladder(self, game: str, seats: int) -> LadderRows:
        """Return a ladder as it was within the last minute; Missing for a table that the game has not."""
        async with self._turn:
            until, kept = self._kept.get((game, seats), (0.0, None))
            if kept is None or monotonic() > until:
                kept = await self._reader.read(lambda source: source.ladder(game, seats))
                self._kept[game, seats] = monotonic() + FRESH, kept
            return kept


async def home(request: Request) -> Response:
    """Show the best of each ladder and the newest matches."""

    def query(source: DataSource) -> tuple[list[LadderRows], tuple[MatchRow, ...]]:
        return [source.ladder(game) for game in source.games()], source.matches(limit=FIRST)

    ladders, matches = await request.app.state.fresh.read("first page", query)
    drawn = [(ladder, ladder.standings[:FIRST], _intervals(ladder.standings[:FIRST])) for ladder in ladders]
    return page(request, "home.html", ladders=drawn, matches=matches)


async def ladder(request: Request) -> Response:
    """Show one ladder, of all tables or of those of one size; or as it was published until some instant."""
    game, seats = game_asked(request), number_asked(request, "seats", 100) or 0
    at = instant_asked(request, "at")
    if at is not None:
        if seats:
            raise Missing("ladders of the past are of all tables: leave out either seats or at")
        return await _past_ladder(request, game, at)
    if seats:
        found = await request.app.state.table_ladders.ladder(game, seats)
    else:
        found = await request.app.state.fresh.read(("ladder", game), lambda source: source.ladder(game))
    age = None if found.published is None else datetime.now(UTC) - found.published
    return page(
        request,
        "ladder.html",
        ladder=found,
        rows=found.standings,
        intervals=_intervals(found.standings),
        age=age and timedelta(minutes=age // timedelta(minutes=1)),
        meaning=MEANING,
    )


async def _past_ladder(request: Request, game: str, at: datetime) -> Response:
    found = await request.app.state.reader.read(lambda source: source.past_ladder(game, at))
    before = None if found.published is None else found.published - timedelta(microseconds=1)
    return page(
        request,
        "past_ladder.html",
        ladder=found,
        asked=at,
        before=before,
        intervals=_intervals(found.standings),
        unsettled=UNSETTLED,
    )


def _provisional(row: LadderRow | PastLadderRow) -> bool:
    return row.provisional if isinstance(row, LadderRow) else row.fitted_deviation > UNSETTLED


def _intervals(rows: Sequence[LadderRow] | Sequence[PastLadderRow]) -> list[Interval]:
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
