"""The home page, and the ladders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.figures import FLAG_MEANING
from arena.queries.source import DataSource, choose_ladders
from arena.store.base.rows import EventRow, LadderRows, MatchRow
from arena.web.answers.responses import page
from arena.web.drawing.five_pictures import five_pictures
from arena.web.drawing.ratings import UNSETTLED, intervals
from arena.web.pages.asked import AskedLadder, instant_asked, ladder_asked, ladders_listed, number_asked
from arena.web.pages.live import on_tv
from arena.web.reading.reader import Missing, just_ended, newest_events, stopped

FIRST: Final = 5
"""Number of bots of each ladder on the home page."""


async def home(request: Request) -> Response:
    """Show the best bots of each default ladder, a list of ladders if there are others, and the newest matches."""

    def query(
        source: DataSource,
    ) -> tuple[list[LadderRows], tuple[MatchRow, ...], dict[str, str], tuple[EventRow, ...]]:
        defaults = choose_ladders(source.ladders())
        found = [source.ladder(each.game, ladder=each.ladder, season=each.season) for each in defaults]
        return found, just_ended(source), stopped(source), newest_events(source)

    ladders, matches, kept_out, events = await request.app.state.fresh.read("first page", query)
    drawn = [(ladder, ladder.standings[:FIRST], intervals(ladder.standings[:FIRST])) for ladder in ladders]
    listed = await ladders_listed(request)
    return page(
        request,
        "home.html",
        ladders=drawn,
        listed=listed if any(each.name != each.game for each in listed) else (),
        matches=matches,
        events=events,
        live=request.app.state.live.has_server,
        stopped=kept_out,
        tv=await on_tv(request),
        game="",
        kiosk=False,
        pictures=five_pictures(),
    )


async def ladder(request: Request) -> Response:
    """Show one ladder: for all tables, for one table size, or a past one."""
    asked, seats = await ladder_asked(request), number_asked(request, "seats", 100) or 0
    at = instant_asked(request, "at")
    if at is not None:
        if seats:
            raise Missing("ladders of the past are of all tables: leave out either seats or at")
        return await _past_ladder(request, asked, at)
    if seats:
        found = await request.app.state.table_ladders.ladder(*asked[:3], seats)
    else:
        found = await request.app.state.fresh.read(("ladder", *asked[1:3]), asked.read)
    age = None if found.published is None else datetime.now(UTC) - found.published
    return page(
        request,
        "ladder.html",
        asked=asked,
        ladder=found,
        rows=found.standings,
        stopped=await request.app.state.fresh.read("stopped", stopped),
        intervals=intervals(found.standings),
        age=age and timedelta(minutes=age // timedelta(minutes=1)),
        meaning=FLAG_MEANING,
    )


async def _past_ladder(request: Request, asked: AskedLadder, at: datetime) -> Response:
    found = await request.app.state.reader.read(
        lambda source: source.past_ladder(asked.game, at, asked.ladder, asked.season)
    )
    before = None if found.published is None else found.published - timedelta(microseconds=1)
    return page(
        request,
        "past_ladder.html",
        asked=asked,
        ladder=found,
        at=at,
        before=before,
        intervals=intervals(found.standings),
        unsettled=UNSETTLED,
    )
