"""Queries of a data directory, which a server may be using. The results are the same as that server's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.queries.source import LARGEST_PAGE, DataSource
from arena.store.base import leaves as log
from arena.store.base.errors import Refused
from arena.store.base.rows import LadderEntryRow, microseconds
from arena.store.bots import bots
from arena.store.ladder import publishing, seasons, standings
from arena.store.ladder.opponents import opponents
from arena.store.ladder.version_standings import version_standings
from arena.store.matches import matches
from arena.store.matches import search as match_search
from arena.store.matches.search import MatchFilter
from arena.store.moderation import moderation
from arena.store.opening import ReadConnections, open_readonly
from engine.registry import GAMES

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from sqlalchemy import Connection

    from arena.log.head import LogEntry, LogState
    from arena.queries.live import RoundRow
    from arena.store.base.rows import (
        BotEventRow,
        BotRow,
        EventRow,
        LadderRows,
        MatchRow,
        OpponentRow,
        PastLadder,
        RatedRow,
        VersionRow,
    )
    from arena.store.matches.search import MatchPage


@contextmanager
def open_directory(directory: Path) -> Iterator[Directory]:
    """Open one committed state of a data directory. Errors of `open_readonly` propagate."""
    with open_readonly(directory) as connection:
        yield Directory(connection, directory)


@contextmanager
def opening_directory(directory: Path) -> Iterator[Callable[[], AbstractContextManager[Directory]]]:
    """Yield a function that opens the latest committed state at each call. It is faster than `open_directory` and works
    in any thread.
    """
    connections = ReadConnections(directory)

    @contextmanager
    def opened() -> Iterator[Directory]:
        with connections.open() as connection:
            yield Directory(connection, directory)

    try:
        yield opened
    finally:
        connections.close()


class Directory(DataSource):
    """An open data directory. Its methods raise `StoreError` or `Refused`."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def games(self) -> tuple[str, ...]:
        return tuple(GAMES)

    def ladders(self) -> tuple[LadderEntryRow, ...]:
        return list_ladders(self._connection)

    def ladder(self, game: str = "", seats: int = 0, ladder: str = "", season: int = 0) -> LadderRows:
        game, ladder_id = self._resolve(game, ladder, season)
        if seats:
            return self._of_tables(game, seats, ladder_id)
        return standings.current(self._connection, ladder_id, game)

    def past_ladder(self, game: str, at: datetime, ladder: str = "", season: int = 0) -> PastLadder:
        game, ladder_id = self._resolve(game, ladder, season)
        return publishing.published_until(self._connection, ladder_id, game, microseconds(at))

    def history(
        self, bot: str, game: str = "", limit: int = 1000, ladder: str = "", season: int = 0
    ) -> tuple[RatedRow, ...]:
        return standings.history(self._connection, bot, self._resolve(game, ladder, season)[1], limit)

    def versions(
        self, bot: str, game: str = "", limit: int = 1000, ladder: str = "", season: int = 0
    ) -> tuple[VersionRow, ...]:
        return version_standings(self._connection, bot, self._resolve(game, ladder, season)[1], limit)

    def opponents(
        self,
        bot: str,
        game: str = "",
        limit: int = 50,
        after: int = 0,
        last: int = 1000,
        ladder: str = "",
        season: int = 0,
    ) -> tuple[OpponentRow, ...]:
        return opponents(self._connection, bot, self._resolve(game, ladder, season)[1], limit, after, last)

    def all_matches(
        self, game: str = "", bot: str = "", before: int | None = None, ladder: str = "", season: int = 0
    ) -> Iterator[MatchRow]:
        while rows := self.matches(game, bot, LARGEST_PAGE, before, ladder, season):
            yield from rows
            if len(rows) < LARGEST_PAGE:
                return
            before = rows[-1].match_id

    def search(
        self, wanted: MatchFilter, limit: int = 50, before: int | None = None, ladder: str = "", season: int = 0
    ) -> MatchPage:
        if ladder or season:
            wanted = replace(wanted, game="", ladder_id=self._resolve(wanted.game, ladder, season)[1])
        elif wanted.game:
            _require(wanted.game)
        return match_search.search(self._connection, wanted, limit, before)

    def match(self, match_id: int) -> tuple[MatchRow, tuple[RoundRow, ...]]:
        return matches.get_match(self._connection, match_id), ()

    def bots(self) -> tuple[BotRow, ...]:
        return bots.list_bots(self._connection)

    def bot_events(self, limit: int = 50, before: int | None = None) -> tuple[BotEventRow, ...]:
        return moderation.list_events(self._connection, limit, before)

    def events(self, limit: int = 50, before: int | None = None) -> tuple[EventRow, ...]:
        from arena.store.matches.event_documents import event_rows

        return event_rows(self._connection, limit, before)

    def event(self, name: str) -> dict[str, Any]:
        from arena.store.matches.event_documents import event_document

        return event_document(self._connection, name)

    def event_bundle(self, name: str) -> Iterator[bytes]:
        from arena.store.matches.event_documents import bundle

        yield from map(str.encode, bundle(self._connection, name))

    def replay(self, match_id: int) -> bytes:
        return matches.get_replay(self._connection, match_id)

    def log_state(self) -> LogState:
        state = log.state(self._connection)
        if state is None:
            raise Refused("the log of results has no head yet; a server started on the directory signs one")
        return state

    def log_entries(self, match_id: int) -> tuple[LogEntry, ...]:
        return log.entries(self._connection, match_id)

    def log_consistency(self, first: int, second: int) -> tuple[bytes, ...]:
        try:
            return log.consistency(self._connection, first, second)
        except ValueError as error:
            raise Refused(str(error)) from error

    def running(self, match_id: int) -> Sequence[str]:
        """Return the journal rows of a running match, including its seed and all hands; empty for any other match."""
        from arena.store.journal.journal import read_journal

        playing = match_id in matches.playing(self._connection)
        return read_journal(self._path, match_id) if playing else ()

    def _resolve(self, game: str, ladder: str, season: int) -> tuple[str, str]:
        """Return the game and the ladder id of a season, as `seasons.resolve` does."""
        if game:
            _require(game)
        known = {game: game} if game and ladder in ("", game) else _ladders(self._connection)
        found = seasons.resolve(self._connection, known, game, ladder, season)
        return known[found.ladder], found.id

    def _of_tables(self, game: str, seats: int, ladder_id: str) -> LadderRows:
        """Compute a ladder for tables of one size.

        Raises:
            Refused: the game has no such tables, or the ladder cannot be computed.
        """
        from arena.ladder.errors import LadderError
        from arena.store.ladder.fits import Fits  # Imported here, because this imports numpy.

        able = GAMES[game].seats
        if seats not in able:
            raise Refused(f"{game} is played by {able.start} to {able.stop - 1}, not by {seats}")
        try:
            ladder = Fits(publishing.quota(self._connection, ladder_id)).ladder(self._connection, ladder_id, seats)
        except LadderError as error:
            raise Refused(f"the ladder of {ladder_id} cannot be computed: {error}") from error
        return standings.of_tables(self._connection, ladder_id, game, seats, ladder)


def list_ladders(connection: Connection) -> tuple[LadderEntryRow, ...]:
    """Return the default ladder of each game, then the other ladders with a match, by name."""
    ladders = _ladders(connection).items()
    return tuple(LadderEntryRow(name, game, seasons.summaries(connection, name)) for name, game in ladders)


def _ladders(connection: Connection) -> dict[str, str]:
    """Return the game of each ladder, by the ladder's name."""
    return {name: name for name in GAMES} | seasons.games_of(connection)


def games_named(game: str | None) -> tuple[str, ...]:
    """Return the named game, or all games for None.

    Raises:
        Refused: there is no such game.
    """
    if game is None:
        return tuple(GAMES)
    _require(game)
    return (game,)


def _require(game: str) -> None:
    if game not in GAMES:
        raise Refused(f"there is no game {game!r}; there is {', '.join(GAMES)}")
