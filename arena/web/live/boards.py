"""The boards of an application by name: their contents and their rendering."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Final, NamedTuple, TypeVar

import trio
from starlette.applications import Starlette
from trio.to_thread import run_sync

from arena.queries.live import GameStatusRow, RoundRow, StatusRow
from arena.queries.remote import Client, NoAnswer
from arena.store.base.errors import Refused
from arena.store.base.rows import BotRow, LadderEntryRow
from arena.web.answers.responses import fragment
from arena.web.caches import TtlCache
from arena.web.drawing.ratings import intervals
from arena.web.live.board import INTERVAL, SILENCE, Board, Rows
from arena.web.live.event_stream import Viewers
from arena.web.live.feed import NOT_YET, LiveFeed, LiveTable, Servers
from arena.web.reading.reader import Missing, Reader, Unavailable, just_ended, stopped
from engine.registry import GAMES

T = TypeVar("T")

ANSWER_LIMIT: Final = 3.0
"""Seconds after which a page no longer waits for a node."""
ASK_EVERY: Final = 5.0
"""Seconds between checks of all nodes for one that has stopped."""
BOTS_AGE: Final = 5.0
"""Seconds for which the server's list of bots is cached."""
LADDERS_AGE: Final = 1.0
"""Seconds for which the list of ladders is cached."""
MOST_BOARDS: Final = 500
"""Maximum number of boards in memory. Boards without viewers are dropped first."""
_ROW: Final = re.compile(r"<tr>.*?</tr>", re.DOTALL)


class Trick(NamedTuple):
    """One trick."""

    leader: int
    taker: int | None
    """The seat that won the trick, or None."""
    cards: Sequence[str]
    """The cards by seat."""


class FaceUp(NamedTuple):
    """A round with all cards shown."""

    turned: str
    """The card turned up. Empty if there is none."""
    called: Sequence[str]
    """By seat, the bid, or the card that is the prediction."""
    taken: Sequence[int]
    """Number of tricks won, by seat."""
    tricks: Sequence[Trick]


def face_up(game: str, row: RoundRow) -> FaceUp | None:
    """Return a round with all cards shown, or None for an unknown game or a game without tricks."""
    record, known = row.record, GAMES.get(game)
    if known is None or not {"plays", "leaders", "takers", "taken"} <= record.keys():
        return None
    seats = len(row.points)
    names = [action.name for action in known.actions]
    tricks = []
    for number, leader in enumerate(record["leaders"]):
        played = record["plays"][number * seats : (number + 1) * seats]
        cards = [""] * seats
        for place, action in enumerate(played):
            cards[(leader + place) % seats] = names[action]
        taker = record["takers"][number] if number < len(record["takers"]) else seats
        tricks.append(Trick(leader, taker if taker < seats else None, cards))
    turned = record.get("turned")
    called = [known.cards[card].name for card in record.get("predictions", ())] or [*map(str, record.get("bids", ()))]
    return FaceUp("" if turned is None else known.cards[turned].name, called, record["taken"], tricks)


def _merged(statuses: Sequence[StatusRow]) -> StatusRow:
    """Merge the status of all nodes: add the numbers of matches, but use the largest number of bots."""
    first = statuses[0]
    return replace(
        first,
        started=min(each.started for each in statuses),
        draining=any(each.draining for each in statuses),
        bots=max(each.bots for each in statuses),
        watchers=sum(each.watchers for each in statuses),
        games=_merged_ladders(row for each in statuses for row in each.games),
        ladders=_merged_ladders(row for each in statuses for row in each.ladders),
    )


def _merged_ladders(rows: Iterable[GameStatusRow]) -> tuple[GameStatusRow, ...]:
    by_name: dict[str, GameStatusRow] = {}
    for row in rows:
        name = row.ladder or row.game
        other = by_name.setdefault(name, row)
        if other is not row:
            by_name[name] = replace(
                other,
                waiting=max(other.waiting, row.waiting),
                playing=other.playing + row.playing,
                ended=other.ended + row.ended,
                unfitted_results=max(other.unfitted_results, row.unfitted_results),
                not_fitted_reason=other.not_fitted_reason or row.not_fitted_reason,
            )
    return tuple(by_name.values())


class Live:
    """The boards of an application, and their sources."""

    def __init__(self, reader: Reader, servers: Servers, root: str) -> None:
        self.feed = LiveFeed(servers)
        self.viewers = Viewers()
        self._reader = reader
        self._servers = servers
        self._root = root
        self._boards: dict[str, Board] = {}
        self._fresh = TtlCache()

    @asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """Follow the server and refresh boards with viewers while the `with` block runs."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.feed.run)
            nursery.start_soon(self._refresh)
            if len(self._servers) > 1:
                nursery.start_soon(self._find_stopped)
            yield
            nursery.cancel_scope.cancel()

    def board(self, name: str) -> Board:
        """Return the board with a name such as "ladder/nullern" or "matches/7".

        Raises:
            Missing: no board has this name.
        """
        if name not in self._boards:
            render = self._renderer(name)
            for old in [each for each, board in self._boards.items() if not board.viewers]:
                if len(self._boards) >= MOST_BOARDS:
                    del self._boards[old]
            self._boards[name] = Board(render, partial(self.silence, name))
        return self._boards[name]

    async def rows(self, name: str) -> Rows:
        """Return the current rows of a board."""
        return await self._renderer(name)()

    @property
    def has_server(self) -> bool:
        """True if the pages have a server."""
        return bool(self._servers)

    def silence(self, name: str) -> str:
        """Return the reasons why data is missing on the board with this name; empty if it is complete."""
        kind, _, rest = name.partition("/")
        if kind == "matches" and rest and (table := self.feed.tables.get(int(rest))) is not None:
            return self.feed.silence[table.node]
        return self.feed.silent if kind in {"matches", "status"} else ""

    async def bots(self) -> tuple[BotRow, ...]:
        """Return the server's list of bots, including their connections. It is at most a few seconds old.

        Raises:
            Unavailable: the server does not answer, or there is none.
        """
        return await self._fresh.get("bots", self._bots, BOTS_AGE)

    async def _bots(self) -> tuple[BotRow, ...]:
        by_name: dict[str, BotRow] = {}
        for rows in (await self._ask_all(lambda server: server.bots())).values():
            for row in rows:
                other = by_name.setdefault(row.name, row)
                if other is not row:
                    connected = row if row.connected else other
                    playing = (row.playing or 0) + (other.playing or 0)
                    by_name[row.name] = replace(connected, playing=playing)
        return tuple(by_name.values())

    async def _ask_all(self, question: Callable[[Client], T]) -> Mapping[str, T]:
        """Ask all nodes at once. Return the answers by node.

        Raises:
            Unavailable: no node answers, or there is no server.
        """
        found: dict[str, T] = {}
        errors: list[Unavailable] = []

        async def ask(node: str) -> None:
            try:
                found[node] = await self._ask(node, question)
            except Unavailable as error:
                errors.append(error)

        async with trio.open_nursery() as nursery:
            for node in self._servers:
                nursery.start_soon(ask, node)
        if not found:
            raise errors[0] if errors else Unavailable(self.feed.silent)
        return {node: found[node] for node in self._servers if node in found}

    async def _ask(self, node: str, question: Callable[[Client], T]) -> T:
        """Ask a node, unless it is one of several and known not to answer.

        Raises:
            Unavailable: the node does not answer.
        """
        if node and (why := self.feed.silence[node]) not in {"", NOT_YET}:
            raise Unavailable(why)

        def ask() -> T:
            with self._servers[node]() as server:
                return question(server)

        try:
            with trio.fail_after(ANSWER_LIMIT):
                return await run_sync(ask, abandon_on_cancel=True)
        except trio.TooSlowError:
            self.feed.lost(node, f"The server did not answer within {ANSWER_LIMIT:g} s; it is tried again.")
            raise Unavailable(self.feed.silence[node]) from None
        except (NoAnswer, Refused) as error:
            raise Unavailable(str(error)) from error

    async def ladders(self) -> tuple[LadderEntryRow, ...]:
        """Return the ladders of the data source. While the server is connected, add its ladders.

        Only the server knows their settings and the ladders without a match.

        Raises:
            Unavailable: the data source does not answer.
        """
        return await self._fresh.get("ladders", self._ladders, LADDERS_AGE)

    async def _ladders(self) -> tuple[LadderEntryRow, ...]:
        found = {each.name: each for each in await self._reader.read(lambda source: source.ladders())}
        if not all(self.feed.silence.values()):
            with suppress(Unavailable):
                for rows in (await self._ask_all(lambda server: server.ladders())).values():
                    found |= {each.name: each for each in rows}
        return tuple(found.values())

    async def status(self) -> StatusRow:
        """Return the state of the server, with the matches of all nodes that answer.

        A bot has a stream to each node, so the number of bots is that of the node with the most.

        Raises:
            Unavailable: the server does not answer.
        """
        return _merged([*(await self._statuses()).values()])

    async def _statuses(self) -> Mapping[str, StatusRow]:
        return await self._ask_all(lambda server: server.status())

    def _renderer(self, name: str) -> Callable[[], Awaitable[Rows]]:
        kind, _, rest = name.partition("/")
        single = {"matches": self._matches, "status": self._status, "newest": self._newest}
        if name in single:
            return single[name]
        if kind == "matches" and rest.isascii() and rest.isdigit() and len(rest) < 19:
            return partial(self._match, int(rest))
        if kind == "ladder":
            return partial(self._ladder, rest)
        raise Missing(f"nothing here is called {name[:60]!r}")

    async def _matches(self) -> Rows:
        silence = self.feed.silence
        return {
            f"{table.match_id}": fragment("live_parts.html", "match_row", self._root, table, silence[table.node])
            for _, table in sorted((self.feed.tables | self.feed.over).items(), reverse=True)
        }

    async def table(self, number: int) -> LiveTable | None:
        """Return a running match with all its finished rounds, or None if it is not running.

        Raises:
            Unavailable: the server does not answer.
        """
        table = self.feed.tables.get(number)
        if table is None:
            return None
        seen = {each.round: each for each in table.rounds}
        missing = [number for number in range(len(table.points)) if number not in seen]
        if missing:
            _, rounds = await self._ask(table.node, lambda server: server.match(table.match_id))
            by_number = {each.round: each for each in (*rounds, *table.rounds)}
            table.rounds[:] = [by_number[number] for number in sorted(by_number)]
        return table

    async def _match(self, number: int) -> Rows:
        with suppress(Unavailable):  # The other rounds are shown until its node answers.
            await self.table(number)
        table = self.feed.tables.get(number) or self.feed.over.get(number)
        over = {"over": fragment("live_parts.html", "over", self._root, number, table)}
        if table is None:
            return over
        return (over if table.end is not None else {}) | {
            f"round-{each.round}": fragment(
                "live_parts.html", "round", self._root, table, each, face_up(table.game, each)
            )
            for each in reversed(table.rounds)
        }

    async def _status(self) -> Rows:
        statuses, now = await self._statuses(), datetime.now(UTC)
        rows = {
            node or "server": fragment("live_parts.html", "server_row", each, now, node)
            for node, each in statuses.items()
        }
        status = _merged([*statuses.values()])
        for each in (*status.games, *status.ladders):
            rows[each.ladder or each.game] = fragment("live_parts.html", "status_row", self._root, each, now)
        return rows

    async def _ladder(self, name: str) -> Rows:
        ladder, kept_out = await self._reader.read(lambda source: (source.ladder(ladder=name), stopped(source)))
        drawn = fragment(
            "macros.html", "ladder_table", self._root, ladder, ladder.standings, intervals(ladder.standings), kept_out
        )
        rows = _ROW.findall(drawn.partition("<tbody>")[2])
        return {row.bot: html for row, html in zip(ladder.standings, rows, strict=True)}

    async def _newest(self) -> Rows:
        found = await self._reader.read(just_ended)
        drawn = fragment("macros.html", "match_list", self._root, found)
        rows = _ROW.findall(drawn.partition("<tbody>")[2])
        return {f"{row.match_id}": html for row, html in zip(found, rows, strict=True)}

    async def _find_stopped(self) -> None:
        """Ask all nodes every few seconds while a page is open, because the stream of a stopped node ends late."""
        while True:
            await trio.sleep(ASK_EVERY)
            if any(board.viewers for board in self._boards.values()):
                with suppress(Unavailable):
                    await self._statuses()

    async def _refresh(self) -> None:
        """Refresh changed boards that have viewers, at most once a second."""
        ended: dict[str, int] = {}
        status_at, woken_at = 0.0, monotonic()
        while True:
            changed = self.feed.changed
            for name, board in list(self._boards.items()):
                if not board.viewers:
                    continue
                kind, _, rest = name.partition("/")
                if kind in {"ladder", "newest"}:
                    now = self.feed.ended.get(rest, 0) if rest else sum(self.feed.ended.values())
                    if now != ended.get(name, 0):
                        ended[name] = now
                        await board.refresh()
                elif kind == "matches" and rest:
                    runs = int(rest) in self.feed.tables
                    if runs or not board.final:
                        board.final = not runs and not self.feed.silent
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
            with trio.move_on_after(INTERVAL):  # The status changes with time even without any event.
                await changed.wait()
