"""Pages of what is played now: running matches, one of them, newly finished rounds (TV), and how the server is."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any, Final

import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from trio.to_thread import run_sync

from arena.client.live import RoundRow, StatusRow
from arena.client.remote import NoAnswer
from arena.client.source import DataSource
from arena.store.errors import Refused
from arena.store.rows import MatchRow, MatchState
from arena.transport.connection_limits import OpenByOrigin, Origin, TooManyOpen, origin_of
from arena.web.ladder_pages import intervals
from arena.web.live_board import INTERVAL, MOST_OF_ADDRESS, MOST_VIEWERS, RETRY, SILENCE, Board, Rows
from arena.web.live_feed import LiveFeed, LiveTable, OpenServer
from arena.web.live_rounds import face_up
from arena.web.reader import Missing, Reader, Unavailable
from arena.web.responses import fragment, page

SCREENS: Final = 4
"""Rounds that are shown at once on the TV."""
READING: Final = 8.0
"""Seconds that a round stays on the TV, at least."""
MOST_BOARDS: Final = 500
"""Boards that are kept; those that nobody looks at are forgotten first."""
_ROW: Final = re.compile(r"<tr>.*?</tr>", re.DOTALL)


class Screens:
    """What the TV shows: the newest rounds, each long enough to be read, of as many matches as there are."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed
        self._shown: list[tuple[float, LiveTable, RoundRow]] = []
        self._seen = 0

    def rounds(self) -> list[tuple[LiveTable, RoundRow]]:
        """Return the rounds to be shown now."""
        fresh = min(self._feed.seen - self._seen, len(self._feed.newest))
        self._seen = self._feed.seen
        newest_first = list(self._feed.newest)[::-1]
        for table, report in newest_first[:fresh]:
            self._put(table, report, monotonic())
        return [(table, report) for _, table, report in self._shown]

    def _put(self, table: LiveTable, report: RoundRow, now: float) -> None:
        """Show a round in place of one of its match, or of the oldest, unless that has not been read yet."""
        place = next((number for number, each in enumerate(self._shown) if each[1] is table), None)
        if place is None and len(self._shown) < SCREENS:
            self._shown.append((now, table, report))
            return
        if place is None:
            place = min(range(SCREENS), key=lambda number: self._shown[number][0])
        if now - self._shown[place][0] >= READING:
            self._shown[place] = (now, table, report)


class Live:
    """The boards of an application, and what they are made of."""

    def __init__(self, reader: Reader, open_server: OpenServer | None, root: str) -> None:
        self.feed = LiveFeed(open_server)
        self.viewers = OpenByOrigin(MOST_VIEWERS, MOST_OF_ADDRESS)
        self._reader = reader
        self._open_server = open_server
        self._root = root
        self._screens = Screens(self.feed)
        self._boards: dict[str, Board] = {}

    @asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """Follow the server and refresh the boards that are looked at, for the block."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.feed.run)
            nursery.start_soon(self._refresh)
            yield
            nursery.cancel_scope.cancel()

    def board(self, name: str) -> Board:
        """Return the board of a name, such as "ladder/nullern" or "matches/7"; Missing if there is none."""
        if name not in self._boards:
            render = self._renderer(name)
            for old in [each for each, board in self._boards.items() if not board.viewers]:
                if len(self._boards) >= MOST_BOARDS:
                    del self._boards[old]
            self._boards[name] = Board(render)
        return self._boards[name]

    async def rows(self, name: str) -> Rows:
        """Return the rows of a board as they are now."""
        rows: Rows = await self._renderer(name)()
        return rows

    @property
    def has_server(self) -> bool:
        """Whether there is a server to ask."""
        return self._open_server is not None

    async def status(self) -> StatusRow:
        """Return how the server is; Unavailable."""
        if self._open_server is None:
            raise Unavailable(self.feed.silent)
        try:
            return await run_sync(self._ask_status)
        except (NoAnswer, Refused) as error:
            raise Unavailable(str(error)) from error

    def _ask_status(self) -> StatusRow:
        assert self._open_server is not None
        with self._open_server() as client:
            return client.status()

    def _renderer(self, name: str) -> Callable[[], Any]:
        kind, _, rest = name.partition("/")
        if name == "matches":
            return self._matches
        if name == "tv":
            return self._tv
        if name == "status":
            return self._status
        if kind == "matches" and rest.isascii() and rest.isdigit() and len(rest) < 19:
            return partial(self._match, int(rest))
        if kind == "ladder":
            return partial(self._ladder, rest)
        raise Missing(f"nothing here is called {name[:60]!r}")

    async def _matches(self) -> Rows:
        return {
            f"{table.match_id}": fragment("live_parts.html", "match_row", self._root, table)
            for table in reversed(self.feed.tables.values())
        }

    async def _match(self, number: int) -> Rows:
        table = self.feed.tables.get(number)
        if table is None:
            return {"over": fragment("live_parts.html", "over", self._root, number)}
        seen = {each.round: each for each in table.rounds}
        missing = [number for number in range(len(table.points)) if number not in seen]
        if missing:
            _, rounds = await self._reader_of_server(table.match_id)
            table.rounds[:] = sorted({each.round: each for each in (*rounds, *table.rounds)}.values(), key=_by_round)
        return {
            f"round-{each.round}": fragment(
                "live_parts.html", "round", self._root, table, each, face_up(table.game, each)
            )
            for each in reversed(table.rounds)
        }

    async def _reader_of_server(self, number: int) -> tuple[MatchRow, tuple[RoundRow, ...]]:
        assert self._open_server is not None, "else no match is known to run"
        try:
            return await run_sync(self._ask_match, number)
        except (NoAnswer, Refused) as error:
            raise Unavailable(str(error)) from error

    def _ask_match(self, number: int) -> tuple[MatchRow, tuple[RoundRow, ...]]:
        assert self._open_server is not None
        with self._open_server() as client:
            return client.match(number)

    async def _tv(self) -> Rows:
        return {
            f"screen-{place}": fragment(
                "live_parts.html", "round", self._root, table, report, face_up(table.game, report), True
            )
            for place, (table, report) in enumerate(self._screens.rounds())
        }

    async def _status(self) -> Rows:
        status = await self.status()
        now = datetime.now(UTC)
        rows = {"server": fragment("live_parts.html", "server_row", status, now)}
        rows |= {each.game: fragment("live_parts.html", "status_row", self._root, each, now) for each in status.games}
        return rows

    async def _ladder(self, game: str) -> Rows:
        ladder = await self._reader.read(lambda source: source.ladder(game))
        drawn = fragment(
            "macros.html", "ladder_table", self._root, ladder, ladder.standings, intervals(ladder.standings)
        )
        rows = _ROW.findall(drawn.partition("<tbody>")[2])
        return {row.bot: html for row, html in zip(ladder.standings, rows, strict=True)}

    async def _refresh(self) -> None:
        """Refresh what is looked at, as it changes, once a second at most."""
        ended: dict[str, int] = {}
        status_at, woken_at = 0.0, monotonic()
        while True:
            changed = self.feed.changed
            for name, board in list(self._boards.items()):
                if not board.viewers:
                    continue
                game = name.removeprefix("ladder/")
                if game != name:
                    if self.feed.ended.get(game, 0) != ended.get(name, 0):
                        ended[name] = self.feed.ended.get(game, 0)
                        await board.refresh()
                elif name != "status" or monotonic() - status_at >= 2 * INTERVAL:
                    await board.refresh()
            if monotonic() - status_at >= 2 * INTERVAL:
                status_at = monotonic()
            if monotonic() - woken_at >= SILENCE:
                woken_at = monotonic()
                for board in self._boards.values():
                    board.wake()
            await trio.sleep(INTERVAL)
            with trio.move_on_after(INTERVAL):  # the TV and the status change with time, too
                await changed.wait()


class EventStream(Response):
    """A stream of server-sent events. A viewer that does not read is dropped by the operating system, as any reader is
    (`arena.web.serving.UNREAD_LIMIT`), and is told at the beginning when to come back.
    """

    def __init__(self, board: Board, viewers: OpenByOrigin, origin: Origin) -> None:
        super().__init__(
            headers={"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}
        )
        del self.headers["content-length"]
        self._board = board
        self._viewers = viewers
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what changes until the viewer is gone or does not read."""
        try:
            with self._viewers.counted(self._origin):
                await self._send_all(receive, send)
        except TooManyOpen as full:
            headers = {"retry-after": "60", "content-type": "text/plain; charset=utf-8"}
            await Response(f"streams of events: {full}; come back later\n", 503, headers)(scope, receive, send)

    async def _send_all(self, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery, aclosing(self._board.messages()) as messages:
            nursery.start_soon(self._gone, receive, nursery.cancel_scope)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b"retry: %d\n\n" % RETRY, "more_body": True})
            async for message in messages:
                await send({"type": "http.response.body", "body": message, "more_body": True})

    @staticmethod
    async def _gone(receive: Receive, scope: trio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()


def live_of(request: Request) -> Live:
    """Return what is live in the application that serves a request."""
    found: Live = request.app.state.live
    return found


async def events(request: Request) -> Response:
    """Stream what changes on a board."""
    live = live_of(request)
    if request.method == "HEAD":
        live.board(request.path_params["name"])
        return Response(headers={"content-type": "text/event-stream", "cache-control": "no-store"})
    address = request.client.host if request.client is not None else ""
    return EventStream(live.board(request.path_params["name"]), live.viewers, origin_of(address))


async def running(request: Request) -> Response:
    """List the matches that are being played."""
    live = live_of(request)
    return page(request, "live.html", rows=await live.rows("matches"), silent=live.feed.silent)


async def match(request: Request) -> Response:
    """Show the finished rounds of a match that is being played; one that is over has a page of its own."""
    live, number = live_of(request), request.path_params["number"]
    table = live.feed.tables.get(number)
    if table is None:
        row, _ = await request.app.state.reader.read(lambda source: _match(source, number))
        if row.state is not MatchState.PLAYING:
            return RedirectResponse(f"{request.scope['root']}/matches/{number}", 303)
        silent = live.feed.silent or "It begins; come back in a moment."
        return page(request, "live_match.html", number=number, table=None, rows={}, silent=silent)
    rows = await live.rows(f"matches/{number}")
    return page(request, "live_match.html", number=number, table=table, rows=rows, silent=live.feed.silent)


async def tv(request: Request) -> Response:
    """Show the newest finished rounds."""
    live = live_of(request)
    return page(request, "tv.html", rows=await live.rows("tv"), silent=live.feed.silent)


async def status(request: Request) -> Response:
    """Show how the server is; without one, that there is none."""
    live = live_of(request)
    rows = await live.rows("status") if live.has_server else {}
    return page(request, "status.html", rows=rows, silent="" if rows else live.feed.silent)


def _match(source: DataSource, number: int) -> tuple[MatchRow, tuple[RoundRow, ...]]:
    if number > (1 << 53) - 1:
        raise Missing(f"there is no match {number}")
    return source.match(number)


def _by_round(row: RoundRow) -> int:
    return row.round


ROUTES: Final = (
    Route("/live", running),
    Route("/live/events/{name:path}", events),
    Route("/live/matches/{number:int}", match),
    Route("/tv", tv),
    Route("/status", status),
)
