"""Events: the list of them, the page of one, and the certificate of its winner."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.events import perhaps_best
from arena.queries.log_rows import head_row
from arena.queries.source import DataSource
from arena.store.base.errors import Refused
from arena.web.answers.responses import conditional, fragment, page
from arena.web.pages.asked import ladders_listed
from arena.web.reading.reader import Missing, event_found

NEWEST: Final = 20
"""Number of tables whose bots and points are shown."""
LOG_AGE: Final = 60.0
"""Seconds for which the name of the log is cached."""
LARGEST: Final = 96
"""Largest size of the winner's name on a certificate."""
WIDE: Final = 1100
"""Room for the winner's name on a certificate. No letter is wider than its size."""


async def events(request: Request) -> Response:
    """Show all events. Raises: Missing: the data source has none to show."""
    rows = await request.app.state.fresh.read("events", lambda source: source.events())
    return page(request, "events.html", events=rows)


async def event(request: Request) -> Response:
    """Show an event: its entrants, or standings and tables, or how it ended. Raises: Missing."""
    found = await event_found(request.app.state.fresh, request.path_params["name"])
    listed = await request.app.state.fresh.read("bots", lambda source: source.bots())
    result, tables = found["result"], found["tables"][::-1]
    return page(
        request,
        "event.html",
        found=found,
        perhaps=perhaps_best(result) if result else (),
        certificate=_has_winner(found),
        ladder_known=found["event"].ladder in [each.name for each in await ladders_listed(request)],
        listed={each.name for each in listed},
        newest=tables[:NEWEST],
        earlier=tables[NEWEST:],
        log=await request.app.state.fresh.read("name of the log", _log, LOG_AGE),
    )


async def certificate(request: Request) -> Response:
    """Send the certificate of a decided event's winner. Raises: Missing."""
    found = await event_found(request.app.state.fresh, request.path_params["name"])
    row, result = found["event"], found["result"]
    if not _has_winner(found):
        raise Missing(f"the event {row.name} has no winner: only a decided event has a certificate")
    log = await request.app.state.fresh.read("name of the log", _log, LOG_AGE)
    size = min(LARGEST, WIDE // len(result["winner"]))
    text = fragment("certificate.svg", "certificate", row, result, size, log, found["leaves"][-1])
    return conditional(request, text.encode(), "image/svg+xml", {})


def _has_winner(found: dict[str, Any]) -> bool:
    return found["event"].state == "finished" and bool(found["result"]["decided"])


def _log(source: DataSource) -> str:
    """Return the name of the log; empty if it has no signed head yet."""
    try:
        return head_row(source.log_state()).log
    except Refused:
        return ""
