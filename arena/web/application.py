"""The application: the page for each address, and the responses to requests that no page handles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import anyio
from starlette.applications import Starlette
from starlette.convertors import register_url_convertor
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute

from arena.queries.source import LARGEST_MATCH
from arena.web.answers.responses import FAULT, WithHeaders, page, problem, static_file
from arena.web.api.application import PATH, api_application, api_page
from arena.web.api.endpoint import Sources
from arena.web.drawing.match_picture import MatchPictures
from arena.web.live.boards import Live
from arena.web.live.feed import Servers
from arena.web.pages import bots, elsewhere, events, feeds, ladders, match_tabs, matches
from arena.web.pages import live as live_pages
from arena.web.pages import rules as rules_pages
from arena.web.pages.documentation import Documentation, documentation
from arena.web.pages.downloads import download, download_list
from arena.web.pages.health import SourceHealth, healthz, metrics
from arena.web.playing.play_socket import PlaySocket, no_server
from arena.web.reading.bot_records import BotRecords
from arena.web.reading.reader import (
    Busy,
    FreshRows,
    Missing,
    NotShown,
    OpenSource,
    Reader,
    Removed,
    TableLadders,
    Unavailable,
)
from arena.web.reading.ready_replays import ReadyReplays
from arena.web.reading.reviews import Reviews
from arena.web.requests.each_request import USUAL, EachRequest, RequestCounts, RequestRules
from arena.web.requests.failures import Failures
from arena.web.requests.numbers import PathNumber
from arena.web.requests.sites import SiteRefused

Handler: TypeAlias = Callable[[Request, Exception], Awaitable[Response]]

register_url_convertor("whole", PathNumber(LARGEST_MATCH))
ROUTES: Final = (
    Route("/", ladders.home),
    Route("/ladder/{ladder}", ladders.ladder),
    Route("/bots", bots.bots),
    Route("/bots/{name}", bots.bot, methods=["GET"]),
    Route("/bots/{name}", bots.analyse, methods=["POST"]),
    Route("/bots/{name}/opponents", bots.opponents),
    Route("/bots/{name}/feed.atom", feeds.of_bot),
    Route("/ladder/{ladder}/feed.atom", feeds.of_ladder),
    Route("/decisions.atom", feeds.of_decisions),
    Route("/events.atom", feeds.of_events),
    Route("/events", events.events),
    Route("/event/{name}", events.event),
    Route("/event/{name}/certificate.svg", events.certificate),
    Route("/event/{name}/picture.png", events.picture),
    Route("/event/{name}/bundle", events.bundle),
    Route("/matches", matches.matches),
    Route("/matches/{number:whole}", matches.match),
    Route("/matches/{number:whole}/steps/{step:whole}", matches.step),
    Route("/matches/{number:whole}/rounds/{round:whole}", matches.round_frames),
    Route("/matches/{number:whole}/replay", matches.replay),
    Route("/matches/{number:whole}/picture.png", elsewhere.picture),
    Route("/matches/{number:whole}/faults", matches.first_fault),
    Route("/matches/{number:whole}/tricks", match_tabs.tricks),
    Route("/matches/{number:whole}/why", match_tabs.why),
    Route("/matches/{number:whole}/check", matches.check),
    Route("/matches/{number:whole}/analysis", matches.analysis, methods=["GET"]),
    Route("/matches/{number:whole}/analysis", matches.ask, methods=["POST"]),
    Route("/embed/matches/{number:whole}", elsewhere.embed),
    Route("/oembed", elsewhere.oembed),
    Route("/rules", rules_pages.first_rules),
    Route("/rules/{game}", rules_pages.rules),
    Route("/write-a-bot", rules_pages.write_a_bot),
    Route("/write-a-bot/browser", rules_pages.browser_bot),
    Route("/duels", rules_pages.duels),
    Route("/download", download_list),
    Route("/download/{name}", download),
    Route("/docs", documentation),
    Route("/docs/{path:path}", documentation),
    Route("/api", api_page),
    Route("/healthz", healthz),
    Route("/metrics", metrics),
    Route("/live", live_pages.running),
    Route("/live/events/{name:path}", live_pages.events),
    Route("/live/matches/{number:whole}", live_pages.match),
    Route("/tv", live_pages.tv),
    Route("/status", live_pages.status),
    Route("/static/{path:path}", static_file),
)


def application(
    open_source: OpenSource,
    rules: RequestRules = USUAL,
    servers: Servers = MappingProxyType({}),
    play_socket: PlaySocket | None = None,
) -> Starlette:
    """Return the application that serves the pages of a data source.

    `servers` opens the nodes whose running matches are shown. If it is empty, none are shown. `play_socket`
    handles the WebSockets of bots that play.
    """
    counts = RequestCounts()
    reader = Reader(open_source)
    sources = Sources(
        reader,
        TableLadders(reader),
        FreshRows(reader),
        ReadyReplays(),
        Reviews(),
        Live(reader, servers, rules.addresses.root),
    )
    made = Starlette(
        routes=[
            *ROUTES,
            WebSocketRoute("/play", play_socket or no_server),
            Mount(PATH, api_application(sources)),
        ],
        middleware=[
            Middleware(WithHeaders, addresses=rules.addresses),
            Middleware(EachRequest, rules=rules, counts=counts),
            Middleware(Failures, answer=_failed),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        lifespan=sources.live.running,
        exception_handlers={
            Missing: _shown_as(404, "Not here"),
            Removed: _shown_as(410, "Gone"),
            NotShown: _shown_as(501, "Cannot be shown"),
            SiteRefused: _shown_as(403, "Not from there"),
            Busy: _shown_as(503, "Busy", {"retry-after": "60"}),
            Unavailable: _shown_as(503, "No answer", {"retry-after": "5"}),
            HTTPException: _refused,
        },
    )
    made.router.redirect_slashes = False  # A redirect would omit the root path.
    made.state = State(vars(sources).copy())
    made.state.health = SourceHealth(reader)
    made.state.counts = counts
    made.state.sites = rules.sites
    made.state.frames = rules.frames
    made.state.play_socket = play_socket
    made.state.documentation = Documentation()
    made.state.pictures = MatchPictures()
    made.state.bundle_turn = anyio.Lock()
    made.state.bot_records = BotRecords(open_source)
    return made


def _shown_as(status: int, title: str, headers: Mapping[str, str] | None = None) -> Handler:
    """Return a handler that shows an error's text with this status and title."""

    async def handler(request: Request, error: Exception) -> Response:
        return _error(request, status, title, str(error), headers)

    return handler


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why = f"There is no page {request.url.path}." if error.status_code == 404 else error.detail
    return _error(request, error.status_code, "Not here", why, error.headers)


def _failed(connection: HTTPConnection) -> Response:
    if connection.scope["type"] == "websocket":
        return problem(500, FAULT)
    return _error(Request(connection.scope), 500, "A fault", FAULT)


def _error(request: Request, status: int, title: str, why: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as a page, or as a problem in JSON.

    JSON is for the interface's addresses and for clients that accept only JSON.
    """
    accepted = request.headers.get("accept", "")
    if f"{request.scope['path']}/".startswith(f"{PATH}/") or ("json" in accepted and "html" not in accepted):
        return problem(status, why, headers)
    answer = page(request, "error.html", status, title=title, why=why)
    answer.headers.update(headers or {})
    return answer
