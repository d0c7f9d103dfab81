"""The application: which page answers which address, and what a request gets that no page answers."""

from __future__ import annotations

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

from arena.web import bot_pages, ladder_pages, match_list_pages, match_pages, proof_pages, review_pages, rules_pages
from arena.web.bot_records import BotRecords
from arena.web.fresh import FreshRows
from arena.web.reader import Busy, Missing, NotShown, OpenSource, Reader, Removed, Unavailable
from arena.web.ready_replays import ReadyReplays
from arena.web.responses import WithHeaders, page
from arena.web.reviews import Reviews

ROUTES: Final = (
    Route("/", ladder_pages.home),
    Route("/ladder/{game}", ladder_pages.ladder),
    Route("/bots", bot_pages.bots),
    Route("/bots/{name}", bot_pages.bot),
    Route("/matches", match_list_pages.matches),
    Route("/matches/{number:int}", match_pages.match),
    Route("/matches/{number:int}/steps/{step:int}", match_pages.step),
    Route("/matches/{number:int}/rounds/{round:int}", match_pages.round_frames),
    Route("/matches/{number:int}/replay", match_pages.replay),
    Route("/matches/{number:int}/faults", match_pages.first_fault),
    Route("/matches/{number:int}/check", proof_pages.check),
    Route("/matches/{number:int}/analysis", review_pages.analysis, methods=["GET"]),
    Route("/matches/{number:int}/analysis", review_pages.ask, methods=["POST"]),
    Route("/rules/{game}", rules_pages.rules),
    Route("/write-a-bot", rules_pages.write_a_bot),
)


def application(open_source: OpenSource, root: str = "") -> Starlette:
    """Return the pages over a data source; `root` is the path before theirs behind a proxy, such as "/arena"."""
    static = StaticFiles(directory=str(files("arena.web") / "static"))
    made = Starlette(
        routes=[*ROUTES, Mount("/static", static)],
        middleware=[Middleware(WithHeaders, root=root), Middleware(GZipMiddleware, minimum_size=1000)],
        exception_handlers={
            Missing: _missing,
            Removed: _gone,
            NotShown: _not_shown,
            Busy: _busy,
            Unavailable: _unavailable,
            HTTPException: _refused,
        },
    )
    made.state.reader = reader = Reader(open_source)
    made.state.replays = ReadyReplays()
    made.state.reviews = Reviews()
    made.state.fresh = FreshRows(reader)
    made.state.bot_records = BotRecords(open_source)
    made.state.table_ladders = ladder_pages.TableLadders(reader)
    return made


async def _missing(request: Request, error: Exception) -> Response:
    return page(request, "error.html", 404, title="Not here", why=str(error))


async def _gone(request: Request, error: Exception) -> Response:
    return page(request, "error.html", 410, title="Gone", why=str(error))


async def _not_shown(request: Request, error: Exception) -> Response:
    return page(request, "error.html", 501, title="Cannot be shown", why=str(error))


async def _busy(request: Request, error: Exception) -> Response:
    answer = page(request, "error.html", 503, title="Busy", why=str(error))
    answer.headers["retry-after"] = "60"
    return answer


async def _unavailable(request: Request, error: Exception) -> Response:
    return page(request, "error.html", 503, title="No answer", why=str(error))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why = f"there is no page {request.url.path}" if error.status_code == 404 else error.detail
    return page(request, "error.html", error.status_code, title="Not here", why=why)
