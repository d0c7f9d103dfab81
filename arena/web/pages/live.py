"""Live pages: the running matches, one running match, TV, and the server's state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.queries.programme import programme
from arena.queries.source import LARGEST_MATCH, DataSource
from arena.replay.render.show import ShowError
from arena.store.base.rows import MatchState
from arena.web.answers.responses import page
from arena.web.live.boards import Live
from arena.web.live.event_stream import EventStream
from arena.web.pages.asked import known_game
from arena.web.pages.matches import board
from arena.web.reading.reader import Missing, NotShown
from arena.web.reading.ready_replays import ReadyReplays
from arena.web.requests.numbers import SHOWN, whole_number
from trio_grpc.limits.connection_limits import origin_of

MOST_SEEN: Final = 64
"""Maximum number of matches that an address may list as seen."""


def live_of(request: Request) -> Live:
    """Return the boards of the application that serves a request."""
    found: Live = request.app.state.live
    return found


async def events(request: Request) -> Response:
    """Stream the changes of a board."""
    live = live_of(request)
    changing = live.board(request.path_params["name"])
    if request.method == "HEAD":
        return Response(headers={"content-type": "text/event-stream", "cache-control": "no-store"})
    address = request.client.host if request.client is not None else ""
    return EventStream(changing, live.viewers, origin_of(address))


async def running(request: Request) -> Response:
    """List the running matches."""
    live = live_of(request)
    rows = await live.rows("matches")
    feed = live.feed
    return page(request, "live.html", rows=rows, running=bool(feed.tables), silent=feed.silent, watched=live.has_server)


async def match(request: Request) -> Response:
    """Show the finished rounds of a running match. A finished match has a different page."""
    live, number = live_of(request), request.path_params["number"]
    table = live.feed.tables.get(number)
    # Another node may have interrupted a match of a silent node meanwhile.
    if table is None or (table.node and live.feed.silence[table.node]):
        row, _ = await request.app.state.reader.read(lambda source: source.match(number))
        if row.state is not MatchState.PLAYING:
            return RedirectResponse(f"{request.scope['root']}/matches/{number}", 303)
    if table is None:
        silent = live.feed.silent or "It begins; come back in a moment."
        return page(request, "live_match.html", number=number, table=None, rows={}, silent=silent)
    name = f"matches/{number}"
    rows = await live.rows(name)
    return page(request, "live_match.html", number=number, table=table, rows=rows, silent=live.silence(name))


async def status(request: Request) -> Response:
    """Show the state of the server, or a note that there is none."""
    live = live_of(request)
    rows = await live.rows("status") if live.has_server else {}
    return page(request, "status.html", rows=rows, silent=live.feed.silent, watched=live.has_server)


async def tv(request: Request) -> Response:
    """Show the newest matches of the best bots one after another."""
    game = known_game(request.query_params.get("game", ""))
    shown = await on_tv(request, game, _seen(request))
    return page(request, "tv.html", tv=shown, game=game, kiosk="kiosk" in request.query_params)


async def on_tv(request: Request, game: str = "", seen: Sequence[int] = ()) -> dict[str, Any] | None:
    """Return the values of the board that the TV page shows next, or None before the first match."""
    replays: ReadyReplays = request.app.state.replays
    matches = await request.app.state.fresh.read(("tv", game), lambda source: programme(source, game))

    def query(source: DataSource) -> dict[str, Any] | None:
        waiting = sorted(matches, key=lambda row: row.match_id in seen)
        while waiting:
            row = waiting.pop(0)
            try:
                shown = board(replays.ready(source, row.match_id), row, 1, None, None)
            except (Missing, NotShown, ShowError):
                continue  # The replay was pruned meanwhile, or has another version.
            named = [row.match_id] if row.match_id in seen else [*seen, row.match_id][-MOST_SEEN:]
            return shown | {"queue": waiting, "seen": ",".join(map(str, named))}
        return None

    found: dict[str, Any] | None = await request.app.state.reader.read(query)
    return found


def _seen(request: Request) -> list[int]:
    """Return the matches that the reader has seen.

    Raises:
        Missing: the address is invalid.
    """
    typed = request.query_params.get("seen", "")
    numbers = [whole_number(each, 0, LARGEST_MATCH) for each in typed.split(",")] if typed else []
    if len(numbers) > MOST_SEEN or None in numbers:
        raise Missing(f"seen is at most {MOST_SEEN} numbers of matches with commas between, not {typed[:SHOWN]!r}")
    return [each for each in numbers if each is not None]
