"""The queries that people's views make, of a server (`remote`) or of a data directory (`directory`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from arena.log.head import LogEntry, LogState
    from arena.queries.live import RoundRow
    from arena.store.base.rows import (
        BotEventRow,
        BotRow,
        LadderRows,
        MatchRow,
        OpponentRow,
        PastLadder,
        RatedRow,
        VersionRow,
    )
    from arena.store.matches.search import MatchFilter, MatchPage

LARGEST_MATCH: Final = (1 << 63) - 1
"""Largest possible match number."""
LARGEST_PAGE: Final = 1000
"""Matches or events that one query may return, at most."""


class DataSource(Protocol):
    """Queries; those of a server raise NoAnswer and Declined, those of a directory StoreError and Refused."""

    def games(self) -> tuple[str, ...]: ...  # noqa: D102 - see `arena.queries.remote.Client`
    def ladder(self, game: str, seats: int = 0) -> LadderRows: ...  # noqa: D102
    def past_ladder(self, game: str, at: datetime) -> PastLadder: ...  # noqa: D102
    def history(self, bot: str, game: str, limit: int = 1000) -> tuple[RatedRow, ...]: ...  # noqa: D102
    def versions(self, bot: str, game: str, limit: int = 1000) -> tuple[VersionRow, ...]: ...  # noqa: D102
    def opponents(  # noqa: D102
        self, bot: str, game: str, limit: int = 50, after: int = 0, last: int = 1000
    ) -> tuple[OpponentRow, ...]: ...
    def matches(  # noqa: D102
        self, game: str = "", bot: str = "", limit: int = 50, before: int | None = None
    ) -> tuple[MatchRow, ...]: ...
    def search(  # noqa: D102
        self, wanted: MatchFilter, limit: int = 50, before: int | None = None
    ) -> MatchPage: ...
    def match(self, match_id: int) -> tuple[MatchRow, tuple[RoundRow, ...]]: ...  # noqa: D102
    def bots(self) -> tuple[BotRow, ...]: ...  # noqa: D102
    def bot_events(self, limit: int = 50, before: int | None = None) -> tuple[BotEventRow, ...]: ...  # noqa: D102
    def replay(self, match_id: int) -> bytes: ...  # noqa: D102
    def log_state(self) -> LogState: ...  # noqa: D102
    def log_entries(self, match_id: int) -> tuple[LogEntry, ...]: ...  # noqa: D102
    def log_consistency(self, first: int, second: int) -> tuple[bytes, ...]: ...  # noqa: D102
