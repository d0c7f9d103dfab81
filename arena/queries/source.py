"""The interface of queries for commands and pages. A server (`remote`) or a data directory (`directory`) answers
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from typing import Any

    from arena.log.head import LogEntry, LogState
    from arena.queries.live import RoundRow
    from arena.store.base.rows import (
        BotEventRow,
        BotRow,
        EventRow,
        LadderEntryRow,
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
"""Maximum number of matches or events that one query may return."""


class ChosenLadder(NamedTuple):
    """The ladder and season of a query."""

    game: str
    ladder: str
    season: int

    @property
    def ladder_id(self) -> str:
        """The ladder id of the season."""
        from arena.store.ladder.seasons import id_of

        return id_of(self.ladder, self.season)

    @property
    def words(self) -> str:
        """The ladder's display name, with its season."""
        from arena.queries.figures import ladder_in_words

        return ladder_in_words(self.game, self.ladder, self.season)

    @property
    def named(self) -> dict[str, object]:
        """The keys that identify the season in JSON. For the first season of a default ladder, only the game."""
        named: dict[str, object] = {"game": self.game}
        if (self.ladder, self.season) != (self.game, 1):
            named |= {"ladder": self.ladder, "season": self.season}
        return named


class DataSource(Protocol):
    """The queries. A client of a server raises NoAnswer and Declined, a data directory raises StoreError and Refused.

    `game`, `ladder` and `season` name a season of a ladder as in `arena.store.ladder.seasons.resolve`. A game alone
    names its default ladder, and season 0 is the current one.
    """

    def games(self) -> tuple[str, ...]:
        """Return the names of the games that the server offers."""

    def ladders(self) -> tuple[LadderEntryRow, ...]:
        """Return the ladders: all ladders that the server plays, or all ladders with a match in the directory."""

    def ladder(self, game: str = "", seats: int = 0, ladder: str = "", season: int = 0) -> LadderRows:
        """Return a ladder. With `seats`, compute it for this call from tables of this size only."""

    def past_ladder(self, game: str, at: datetime, ladder: str = "", season: int = 0) -> PastLadder:
        """Return the last version of a ladder that was published by the given time."""

    def history(
        self, bot: str, game: str = "", limit: int = 1000, ladder: str = "", season: int = 0
    ) -> tuple[RatedRow, ...]:
        """Return the last `limit` rated matches of a bot on a ladder, in the order in which they were rated. At most
        10000.
        """

    def versions(
        self, bot: str, game: str = "", limit: int = 1000, ladder: str = "", season: int = 0
    ) -> tuple[VersionRow, ...]:
        """Return the last `limit` versions of a bot on a ladder, newest first. At most 1000."""

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
        """Return a bot's newest results by opponent, at most 1000. See `arena.store.ladder.opponents.opponents`."""

    def matches(
        self,
        game: str = "",
        bot: str = "",
        limit: int = 50,
        before: int | None = None,
        ladder: str = "",
        season: int = 0,
    ) -> tuple[MatchRow, ...]:
        """Return the latest matches, newest first, at most 1000: of a season of a ladder, of a game on any ladder, or
        of all games.
        """
        from arena.store.matches.search import MatchFilter

        return self.search(MatchFilter(game=game, bot=bot), limit, before, ladder, season).matches

    def all_matches(
        self, game: str = "", bot: str = "", before: int | None = None, ladder: str = "", season: int = 0
    ) -> Iterator[MatchRow]:
        """Yield the matches that `matches` finds with numbers below `before`, newest first, reading page by page."""

    def search(
        self, wanted: MatchFilter, limit: int = 50, before: int | None = None, ladder: str = "", season: int = 0
    ) -> MatchPage:
        """Return a page of the wanted matches, newest first. See `matches` and `arena.store.matches.search.search`."""

    def match(self, match_id: int) -> tuple[MatchRow, tuple[RoundRow, ...]]:
        """Return a match, with its finished rounds if it is still being played."""

    def bots(self) -> tuple[BotRow, ...]:
        """Return the bots that are neither hidden nor deleted, by name."""

    def bot_events(self, limit: int = 50, before: int | None = None) -> tuple[BotEventRow, ...]:
        """Return the operator's latest decisions, newest first, at most 1000. See `moderation.list_events`."""

    def events(self, limit: int = 50, before: int | None = None) -> tuple[EventRow, ...]:
        """Return events, newest first, at most 1000. See `arena.store.matches.event_documents.event_rows`."""

    def event(self, name: str) -> dict[str, Any]:
        """Return an event. See `arena.store.matches.event_documents.event_document`."""

    def event_bundle(self, name: str) -> Iterator[bytes]:
        """Yield the bundle of a finished event in pieces."""

    def replay(self, match_id: int) -> bytes:
        """Return the replay file of a finished match."""

    def log_state(self) -> LogState:
        """Return the current state of the log of results."""

    def log_entries(self, match_id: int) -> tuple[LogEntry, ...]:
        """Return the log's entries about a match, in order."""

    def log_consistency(self, first: int, second: int) -> tuple[bytes, ...]:
        """Return the proof that the log of size `first` is the beginning of the log of size `second`."""


def choose_ladders(
    ladders: Iterable[LadderEntryRow], game: str = "", ladder: str = "", season: int = 0
) -> tuple[ChosenLadder, ...]:
    """Return the season for a game, a ladder and a season number, among these ladders. Without game and ladder, return
    the current season of each default ladder.

    Raises:
        NoLadderNamed: no name identifies one ladder.
        NoSuchLadder: there is no such ladder or season.
        LadderOfOtherGame: the ladder belongs to another game.
    """
    from arena.store.base.errors import NoLadderNamed
    from arena.store.ladder.seasons import chosen

    found = {each.name: each for each in ladders}
    if ladder or game:
        name = chosen({each.name: each.game for each in found.values()}, game, ladder)
        found = {name: found[name]}
    elif season:
        raise NoLadderNamed(season)
    else:
        found = {name: each for name, each in found.items() if name == each.game}
    return tuple(ChosenLadder(each.game, name, season or each.seasons[-1].number) for name, each in found.items())
