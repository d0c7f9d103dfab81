"""A bot's results against each other bot, page by page."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.source import DataSource
from arena.store.base.rows import OpponentRow
from arena.store.ladder.opponents import LAST
from arena.web.answers.responses import page
from arena.web.pages.asked import known_game, number_asked
from arena.web.reading.reader import Missing

LISTED: Final = 50
"""Number of opponents on a page."""
MOST: Final = 1 << 31
"""Largest number of opponents that a page may skip."""


async def opponents(request: Request) -> Response:
    """Show results of a bot by opponent, in one game."""
    name, game = request.path_params["name"], request.query_params.get("game", "")
    if not game:
        raise Missing("say of which game, as ?game=NAME")
    after = number_asked(request, "after", MOST) or 0
    known_game(game)

    def query(source: DataSource) -> tuple[OpponentRow, ...]:
        return source.opponents(name, game, LISTED + 1, after)

    found = await request.app.state.reader.read(query)
    return page(
        request,
        "opponents.html",
        name=name,
        game=game,
        opponents=found[:LISTED],
        before=max(0, after - LISTED) if after else None,
        further=after + LISTED if len(found) > LISTED else None,
        last=LAST,
    )
