"""Live pages: the running matches, one running match, and the server's state."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.store.base.rows import MatchState
from arena.web.answers.responses import page
from arena.web.live.boards import Live
from arena.web.live.event_stream import EventStream
from trio_grpc.limits.connection_limits import origin_of


def live_of(request: Request) -> Live:
    """Return the boards of the application that serves a request."""
    found: Live = request.app.state.live
    return found


async def events(request: Request) -> Response:
    """Stream the changes of a board."""
    live = live_of(request)
    if request.method == "HEAD":
        live.board(request.path_params["name"])
        return Response(headers={"content-type": "text/event-stream", "cache-control": "no-store"})
    address = request.client.host if request.client is not None else ""
    return EventStream(live.board(request.path_params["name"]), live.viewers, origin_of(address))


async def running(request: Request) -> Response:
    """List the running matches."""
    live = live_of(request)
    rows = await live.rows("matches")
    feed = live.feed
    return page(request, "live.html", rows=rows, running=bool(feed.tables), silent=feed.silent, watched=live.has_server)


async def match(request: Request) -> Response:
    """Show the finished rounds of a running match; a finished match has a different page."""
    live, number = live_of(request), request.path_params["number"]
    table = live.feed.tables.get(number)
    if table is None:
        row, _ = await request.app.state.reader.read(lambda source: source.match(number))
        if row.state is not MatchState.PLAYING:
            return RedirectResponse(f"{request.scope['root']}/matches/{number}", 303)
        silent = live.feed.silent or "It begins; come back in a moment."
        return page(request, "live_match.html", number=number, table=None, rows={}, silent=silent)
    rows = await live.rows(f"matches/{number}")
    return page(request, "live_match.html", number=number, table=table, rows=rows, silent=live.feed.silent)


async def status(request: Request) -> Response:
    """Show the state of the server, or that there is no server."""
    live = live_of(request)
    rows = await live.rows("status") if live.has_server else {}
    return page(request, "status.html", rows=rows, silent="" if rows else live.feed.silent, watched=live.has_server)
