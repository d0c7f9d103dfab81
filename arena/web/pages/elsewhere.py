"""A match on other sites: a frame that plays it, a picture of its result, and a description of both.

The description follows oEmbed (https://oembed.com).
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.queries.json_form import json_text
from arena.queries.source import LARGEST_MATCH, DataSource
from arena.store.base.rows import MatchRow, MatchState
from arena.web.answers.addresses import own_addresses
from arena.web.answers.responses import OF_ALL, conditional, framed, page
from arena.web.drawing.match_picture import SIZE, PicturedMatch, PicturedSeat
from arena.web.pages.asked import number_asked
from arena.web.pages.matches import board, named
from arena.web.reading.reader import Missing, NotShown
from arena.web.reading.ready_replays import match_row
from arena.web.requests.numbers import SHOWN, whole_number
from engine.registry import GAMES

PICTURE_FRESH: Final = 300
"""Seconds for which a picture or description is cached. It is short, as the operator may remove a name in it."""
FRAME: Final = (960, 600)
"""Default width and height of a frame in pixels."""
BESIDE: Final = 896
"""Minimum width of a frame at which the words are beside the board instead of below it, in pixels."""
STACKED: Final = 640
"""Maximum width of a frame at which a board's seats are stacked, in pixels."""
BELOW: Final = 480
"""Height of the controls and words below a board, in pixels."""
_OF_MATCH: Final = re.compile(r"/(?:embed/)?matches/(\d{1,20})(?:/steps/(\d{1,9}))?/?", re.ASCII)


async def embed(request: Request) -> Response:
    """Show a step of a match for a frame on another site."""
    number, seat = request.path_params["number"], number_asked(request, "seat", 100)
    index = number_asked(request, "step") or 1

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        return board(ready, match_row(source, number), index, seat, None)

    answer = page(request, "embed.html", **await request.app.state.reader.read(named(query)))
    return framed(answer, request.app.state.frames)


async def picture(request: Request) -> Response:
    """Return a picture of a finished match, for sites that show links to the match.

    Raises:
        Missing: there is no such match.
    """
    number = request.path_params["number"]

    def query(source: DataSource) -> PicturedMatch:
        row = match_row(source, number)
        if row.state is not MatchState.FINISHED:
            raise Missing(f"match {number} has no result to draw")
        seats = [
            PicturedSeat(each.place or 0, each.bot, each.score or 0, seat, each.spoilt)
            for seat, each in enumerate(row.seats)
        ]
        seats.sort(key=lambda seat: seat.place)
        try:
            reports = request.app.state.replays.ready(source, number).course.reports
        except (Missing, NotShown):
            reports = ()
        scores = tuple(tuple(report.scores) for report in reports)
        return PicturedMatch(f"Match {number}", _game(row), tuple(seats), scores)

    pictured = await request.app.state.reader.read(query)
    content = await request.app.state.pictures.picture(pictured)
    return conditional(request, content, "image/png", {"cache-control": f"public, max-age={PICTURE_FRESH}"})


async def oembed(request: Request) -> Response:
    """Describe the frame for a match's address. A site can then show the frame if somebody posts the address.

    Raises:
        Missing: there is no match at this address, or it cannot be played in a frame.
        NotShown: the request asks for XML.
    """
    form = request.query_params.get("format", "json")
    if form != "json":
        raise NotShown(f"only format=json is offered, not {form[:SHOWN]!r}")
    own = own_addresses(request).pages
    if own is None:
        raise Missing("these pages do not know their own address; the operator sets public_url")
    number, query = _match_at(own, request.query_params.get("url", ""))
    row = await request.app.state.reader.read(lambda source: match_row(source, number))
    if row.state is not MatchState.FINISHED or row.pruned:
        raise Missing(f"match {number} has no replay to play")
    width, height = _size(request, len(row.seats))
    frame = Markup(
        '<iframe src="{}" title="{}" width="{}" height="{}" sandbox="allow-scripts allow-popups" loading="lazy"'
        ' style="border: 0; max-width: 100%"></iframe>'
    )
    title = f"Match {number}: {_game(row)}"
    document: dict[str, object] = {
        "version": "1.0",
        "type": "rich",
        "title": title,
        "provider_name": "Arena",
        "provider_url": f"{own}/",
        "cache_age": PICTURE_FRESH,
        "html": frame.format(f"{own}/embed/matches/{number}{query}", title, width, height),
        "width": width,
        "height": height,
    }
    if SIZE[0] <= _bound(request, "maxwidth", SIZE[0]) and SIZE[1] <= _bound(request, "maxheight", SIZE[1]):
        image = f"{own}/matches/{number}/picture.png"
        document |= {"thumbnail_url": image, "thumbnail_width": SIZE[0], "thumbnail_height": SIZE[1]}
    headers = {"cache-control": f"public, max-age={PICTURE_FRESH}"} | OF_ALL
    return conditional(request, json_text(document).encode(), "application/json", headers)


def _match_at(own: str, url: str) -> tuple[int, str]:
    """Return the match that an address of these pages shows, and the query for its frame, with step and seat."""
    address = urlsplit(url)
    below = f"{address.scheme}://{address.netloc}".lower() + address.path
    found = _OF_MATCH.fullmatch(below.removeprefix(own)) if below.startswith(own) else None
    number = None if found is None else whole_number(found[1], 0, LARGEST_MATCH)
    if found is None or number is None:
        raise Missing(f"url is the address of a match here, such as {own}/matches/1, not {url[:SHOWN]!r}")
    asked = parse_qs(address.query)
    typed = {"step": found[2] or asked.get("step", [""])[0], "seat": asked.get("seat", [""])[0]}
    given = {name: value for name, value in typed.items() if whole_number(value, 0, LARGEST_MATCH) is not None}
    return number, f"?{urlencode(given)}" if given else ""


def _size(request: Request, seats: int) -> tuple[int, int]:
    """Return the width and height of a frame within the bounds in the address."""
    width = min(FRAME[0], _bound(request, "maxwidth", FRAME[0]))
    drawn = (290 * (seats - 1) + 370) / 960 if width <= STACKED else 10 / 16
    height = FRAME[1] if width >= BESIDE else round(width * drawn) + BELOW
    return width, min(height, _bound(request, "maxheight", height))


def _bound(request: Request, name: str, default: int) -> int:
    bound = number_asked(request, name, 100_000)
    return default if bound is None else bound


def _game(row: MatchRow) -> str:
    return GAMES[row.game].title if row.game in GAMES else row.game
