"""Queries of the data source, of which up to `AT_ONCE` run at the same time in worker threads. Some are cached."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

import anyio
from anyio.to_thread import run_sync

from arena.queries.log_rows import head_row
from arena.queries.remote import NoAnswer
from arena.queries.source import DataSource
from arena.store.base.errors import Refused, StoreError
from arena.store.base.rows import EventRow, LadderRows, MatchRow, MatchState
from arena.store.matches.search import MatchFilter
from arena.web.caches import TtlCache

OpenSource: TypeAlias = Callable[[], AbstractContextManager[DataSource]]
Result = TypeVar("Result")

AT_ONCE: Final = 4
"""Maximum number of simultaneous queries. Further queries wait."""
SECONDS: Final = 1.0
"""Number of seconds for which a result is cached. It is short, so that the ladder shows a match within two seconds."""
JUST_ENDED: Final = 5
EVENT: Final = 3.0
"""Seconds for which an event is cached, equal to the interval at which its page is updated."""
TABLE_LADDER: Final = 60.0
"""Seconds for which a ladder of one table size is cached."""


class Missing(Exception):  # noqa: N818 - the name says what is the matter
    """An object does not exist. The message names it."""


class Removed(Missing):
    """An object was removed permanently. The message names it."""


class NotShown(Exception):  # noqa: N818
    """An object exists but cannot be shown here. The message states the reason."""


class Busy(Exception):  # noqa: N818
    """A request demands too much work. The message states when to retry."""


class Unavailable(Exception):  # noqa: N818
    """The data source does not answer. The message states the reason."""


class Reader:
    """A reader of the data source."""

    def __init__(self, open_source: OpenSource) -> None:
        self._open = open_source
        self._limiter = anyio.CapacityLimiter(AT_ONCE)

    async def read(self, query: Callable[[DataSource], Result]) -> Result:
        """Return the result of a query, which may also do other slow work.

        Raises:
            Missing: there is no such object.
            Unavailable: the data source does not answer.
        """
        return await run_sync(partial(self._read, query), limiter=self._limiter)

    def _read(self, query: Callable[[DataSource], Result]) -> Result:
        try:
            with self._open() as source:
                return query(source)
        except (NoAnswer, StoreError) as error:
            raise Unavailable(str(error)) from error
        except Refused as error:
            raise Missing(str(error)) from error


def just_ended(source: DataSource) -> tuple[MatchRow, ...]:
    """Return the newest matches with a result, as many as the home page shows."""
    return source.search(MatchFilter(state=MatchState.FINISHED), JUST_ENDED).matches


def stopped(source: DataSource) -> dict[str, str]:
    """Return the bots that may not play at present, each with the reason in one word."""
    return {row.name: "banned" if row.banned else "parked" for row in source.bots() if row.banned or row.parked}


def newest_events(source: DataSource) -> tuple[EventRow, ...]:
    """Return the latest events; empty if the data source has no events."""
    try:
        return source.events(JUST_ENDED)
    except Refused:
        return ()


def log_name(source: DataSource) -> str:
    """Return the name of the log; empty if the log has no signed head yet."""
    try:
        return head_row(source.log_state()).log
    except Refused:
        return ""


class FreshRows:
    """A short-lived cache of results that many pages need."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cache = TtlCache()

    async def read(self, key: Hashable, query: Callable[[DataSource], Result], age: float = SECONDS) -> Result:
        """Return the result of a query, at most `age` seconds old. `key` identifies the query."""
        return await self._cache.get(key, partial(self._reader.read, query), age)


async def event_found(fresh: FreshRows, name: str) -> dict[str, Any]:
    """Return an event that is at most three seconds old.

    Raises:
        Missing: there is no such event.
    """
    return await fresh.read(("event", name), lambda source: source.event(name), EVENT)


class TableLadders:
    """Ladders for single table sizes. Each is fitted on request, one at a time, and cached for a minute."""

    def __init__(self, reader: Reader) -> None:
        self._fresh = FreshRows(reader)
        self._turn = anyio.Lock()
        """Lock for waiting until another fit ends, without occupying threads that other pages need."""

    async def ladder(self, game: str, ladder: str, season: int, seats: int) -> LadderRows:
        """Return a ladder that is at most a minute old.

        Raises: Missing: the game has no such table, or there is no such ladder.
        """

        def query(source: DataSource) -> LadderRows:
            return source.ladder(game, seats, ladder, season)

        async with self._turn:
            return await self._fresh.read((ladder or game, season, seats), query, TABLE_LADDER)
