"""The application: which page answers which address, and what a request gets that no page answers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from arena.web import bot_pages, ladder_pages, match_pages, rules_pages
from arena.web.api.application import PATH, api_application, api_page
from arena.web.api.endpoints import Sources
from arena.web.api.problems import problem
from arena.web.health import SourceHealth, healthz
from arena.web.metric_page import metrics
from arena.web.reader import Missing, OpenSource, Reader, Unavailable
from arena.web.requests import USUAL, EachRequest, RequestCounts, RequestRules
from arena.web.responses import WithHeaders, page

ROUTES: Final = (
    Route("/", ladder_pages.home),
    Route("/ladder/{game}", ladder_pages.ladder),
    Route("/bots", bot_pages.bots),
    Route("/bots/{name}", bot_pages.bot),
    Route("/matches", match_pages.matches),
    Route("/matches/{number:int}", match_pages.match),
    Route("/matches/{number:int}/steps/{step:int}", match_pages.step),
    Route("/matches/{number:int}/rounds/{round:int}", match_pages.round_frames),
    Route("/matches/{number:int}/replay", match_pages.replay),
    Route("/rules/{game}", rules_pages.rules),
    Route("/write-a-bot", rules_pages.write_a_bot),
    Route("/api", api_page),
    Route("/healthz", healthz),
    Route("/metrics", metrics),
)


def application(open_source: OpenSource, root: str = "", rules: RequestRules = USUAL) -> Starlette:
    """Return the pages over a data source; `root` is the path before theirs behind a proxy, such as "/arena"."""
    counts = RequestCounts()
    reader = Reader(open_source)
    table_ladders = ladder_pages.TableLadders(reader)
    static = StaticFiles(directory=str(files("arena.web") / "static"))
    made = Starlette(
        routes=[*ROUTES, Mount(PATH, api_application(Sources(reader, table_ladders))), Mount("/static", static)],
        middleware=[
            Middleware(WithHeaders, root=root),
            Middleware(EachRequest, rules=rules, counts=counts),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers={Missing: _missing, Unavailable: _unavailable, HTTPException: _refused},
    )
    made.router.redirect_slashes = False  # a redirect would leave out the root
    made.state.reader = reader
    made.state.health = SourceHealth(reader)
    made.state.counts = counts
    made.state.replays = match_pages.ReadyReplays()
    made.state.table_ladders = table_ladders
    return made


async def _missing(request: Request, error: Exception) -> Response:
    return _error(request, 404, "Not here", str(error))


async def _unavailable(request: Request, error: Exception) -> Response:
    return _error(request, 503, "No answer", str(error), {"retry-after": "5"})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why = f"there is no page {request.url.path}" if error.status_code == 404 else error.detail
    return _error(request, error.status_code, "Not here", why, error.headers)


def _error(request: Request, status: int, title: str, why: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page for a browser, and a problem in JSON for a program that asked for that and not for a page."""
    accepted = request.headers.get("accept", "")
    if "json" in accepted and "html" not in accepted:
        return problem(status, why, headers)
    answer = page(request, "error.html", status, title=title, why=why)
    answer.headers.update(headers or {})
    return answer
