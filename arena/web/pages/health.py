"""True if the pages can show what there is to show, for whoever watches over them: `/healthz`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.json_form import json_text
from arena.queries.source import DataSource
from arena.replay.header import MatchKind
from arena.store.base.rows import LadderRows, MatchRow, MatchState
from arena.web.caches import TtlCache
from arena.web.reading.reader import Missing, Reader, Unavailable

STALE: Final = timedelta(minutes=10)
"""Age of a result that should long be in the fitted ladder."""
LOOKED_AT: Final = 20
"""Newest matches of a game that are looked at."""
KEPT: Final = 1.0
"""Seconds for which a finding is told again: who asks all the time costs nothing."""


class SourceHealth:
    """The faults of the data that the pages read."""

    def __init__(self, reader: Reader, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._reader = reader
        self._now = now
        self._behind: dict[str, tuple[datetime | None, datetime]] = {}
        """By game, when a ladder was published and the end of the oldest match that was seen not to be in it."""
        self._cache = TtlCache()

    async def troubles(self) -> list[str]:
        """Return what is wrong, in words; nothing when all is well."""
        return await self._cache.get("troubles", self._look, KEPT)

    async def _look(self) -> list[str]:
        try:
            return await self._reader.read(self._query)
        except (Missing, Unavailable) as error:
            return [str(error)]

    def _query(self, source: DataSource) -> list[str]:
        found = []
        for game in source.games():
            ladder = source.ladder(game)
            if ladder.not_fitted_since is not None:
                since = f"{ladder.not_fitted_since:%Y-%m-%dT%H:%M:%SZ}"
                found.append(f"the ladder of {game} is not fitted since {since}: {ladder.not_fitted_why}")
            elif self.stale(ladder, source.matches(game=game, limit=LOOKED_AT)):
                found.append(f"the ladder of {game} lacks results that are older than {STALE}")
        return found

    def stale(self, ladder: LadderRows, newest: tuple[MatchRow, ...]) -> bool:
        """Return whether results are missing in a ladder that have been there for long; `newest` matches of its game.

        Where many are played at a time the newest ones are all young: what was seen before counts as well.
        """
        published = ladder.published
        missing = [
            row.ended
            for row in newest
            if row.state is MatchState.FINISHED
            and row.kind is MatchKind.RATED
            and not row.voided
            and row.ended is not None
            and (published is None or row.ended > published)
        ]
        known = self._behind.pop(ladder.game, None)
        if not missing:
            return False
        oldest = min([*missing, *([known[1]] if known is not None and known[0] == published else [])])
        self._behind[ladder.game] = published, oldest
        return self._now() - oldest > STALE


async def healthz(request: Request) -> Response:
    """Say whether all is well: 200, or 503 with what is not."""
    troubles = await request.app.state.health.troubles()
    content = json_text({"healthy": not troubles, "troubles": troubles})
    return Response(content, 503 if troubles else 200, {"cache-control": "no-store"}, "application/json")
