"""Pages about events: the list, one event with its picture and its bundle, and the certificate of its winner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from tempfile import TemporaryFile
from typing import IO, Any, Final

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from arena.queries.events import perhaps_best
from arena.queries.source import LARGEST_MATCH, DataSource
from arena.web.answers.responses import REPLAY_TYPE, conditional, fragment, page
from arena.web.drawing.match_picture import PicturedEvent, PicturedStanding
from arena.web.pages.asked import ladders_listed, number_asked
from arena.web.reading.reader import Missing, event_found, log_name
from engine.registry import GAMES

LISTED: Final = 50
"""Number of events on a page of the list."""
NEWEST: Final = 20
"""Number of tables whose bots and points are shown."""
LOG_AGE: Final = 60.0
"""Seconds for which the name of the log is cached."""
LARGEST: Final = 96
"""Largest font size of the winner's name on a certificate."""
WIDE: Final = 1100
"""Width for the winner's name on a certificate. No letter is wider than the font size."""
PIECE: Final = 1 << 18
"""Number of bytes of a bundle that are sent at once."""
PICTURE_FRESH: Final = 60
"""Number of seconds for which a picture may be cached."""


async def events(request: Request) -> Response:
    """List events, newest first. Raises: Missing."""
    before = number_asked(request, "before", LARGEST_MATCH)
    rows = await request.app.state.fresh.read(
        ("events", LISTED + 1, before), lambda source: source.events(LISTED + 1, before)
    )
    older = rows[LISTED - 1].number if len(rows) > LISTED else None
    return page(request, "events.html", events=rows[:LISTED], older=older)


async def event(request: Request) -> Response:
    """Show an event: its entrants before the start, then standings and tables, or how it ended. Raises: Missing."""
    found = await event_found(request.app.state.fresh, request.path_params["name"])
    listed = await request.app.state.fresh.read("bots", lambda source: source.bots())
    tables = found["tables"][::-1]
    over = [each for each in tables if each["state"] != "playing"]
    return page(
        request,
        "event.html",
        found=found,
        verdict=_verdict(found),
        certificate=_has_winner(found),
        ladder_known=found["event"].ladder in [each.name for each in await ladders_listed(request)],
        listed={each.name for each in listed},
        playing=[each for each in tables if each["state"] == "playing"],
        watched=request.app.state.live.has_server,
        newest=over[:NEWEST],
        earlier=over[NEWEST:],
        log=await request.app.state.fresh.read("name of the log", log_name, LOG_AGE),
    )


async def certificate(request: Request) -> Response:
    """Send the certificate of the winner of an event. Raises: Missing."""
    found = await event_found(request.app.state.fresh, request.path_params["name"])
    row, result = found["event"], found["result"]
    if not _has_winner(found):
        raise Missing(f"the event {row.name} has no winner: only a decided event has a certificate")
    log = await request.app.state.fresh.read("name of the log", log_name, LOG_AGE)
    size = min(LARGEST, WIDE // len(result["winner"]))
    text = fragment("certificate.svg", "certificate", row, result, size, log, found["leaves"][-1])
    return conditional(request, text.encode(), "image/svg+xml", {})


async def picture(request: Request) -> Response:
    """Send a picture of an event, for sites that show a link to it. Raises: Missing."""
    found = await event_found(request.app.state.fresh, request.path_params["name"])
    row, result = found["event"], found["result"]
    game = GAMES[row.ladder].title if row.ladder in GAMES else row.ladder
    standings = [] if result is None else result["standings"]
    shown = [PicturedStanding(each["place"], each["bot"], each["best"], each["still_in"]) for each in standings]
    pictured = PicturedEvent(row.name, f"{game}, tables of {row.seats}", _verdict(found), tuple(shown))
    content = await request.app.state.pictures.picture(pictured)
    return conditional(request, content, "image/png", {"cache-control": f"public, max-age={PICTURE_FRESH}"})


async def bundle(request: Request) -> Response:
    """Send the bundle of a finished event, always whole. Raises: Missing."""
    name = request.path_params["name"]
    row = (await event_found(request.app.state.fresh, name))["event"]
    if row.state != "finished":
        raise Missing(f"the event {row.name} is {row.state}: only a finished one has a bundle")
    headers = {"content-disposition": f'attachment; filename="{row.name}.bundle"', "accept-ranges": "none"}
    if request.method == "HEAD":
        return Response(media_type=REPLAY_TYPE, headers=headers)

    def query(source: DataSource) -> IO[bytes]:
        file = TemporaryFile()  # noqa: SIM115 - the answer closes it
        try:
            file.writelines(source.event_bundle(name))
        except BaseException:
            file.close()
            raise
        return file

    async with request.app.state.bundle_turn:  # One at a time, since a large bundle takes seconds.
        file = await request.app.state.reader.read(query)
    return _FileAnswer(file, headers)


class _FileAnswer(StreamingResponse):
    """A response with the content of a file, which it closes afterwards."""

    def __init__(self, file: IO[bytes], headers: dict[str, str]) -> None:
        self._file = file
        length = {"content-length": str(file.tell())}
        super().__init__(self._pieces(), media_type=REPLAY_TYPE, headers=headers | length)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()

    async def _pieces(self) -> AsyncIterator[bytes]:
        self._file.seek(0)
        while piece := await run_sync(self._file.read, PIECE):
            yield piece


def _has_winner(found: dict[str, Any]) -> bool:
    return found["event"].state == "finished" and bool(found["result"]["decided"])


def _verdict(found: dict[str, Any]) -> str:
    """Return the state or result of an event in words."""
    event, result = found["event"], found["result"]
    over = event.state == "finished"
    if event.state == "cancelled":
        return f"Cancelled: {found['reason']}." if found["reason"] else "Cancelled."
    if event.state == "announced":
        return f"Announced. Entrants so far: {event.entrants}."
    if not result["looks"]:
        return "Nothing is decided: no look was taken." if over else "No look was taken yet."
    if result["decided"]:
        return f"{result['winner']} wins."
    if not over:
        return f"{result['standings'][0]['bot']} leads."
    perhaps = [f"{each['bot']} (P {each['best']:.2f})" for each in perhaps_best(result)]
    if len(perhaps) == 1:
        return f"Undecided: the best is perhaps {perhaps[0]}."
    return f"Undecided between {', '.join(perhaps[:-1])} and {perhaps[-1]}."
