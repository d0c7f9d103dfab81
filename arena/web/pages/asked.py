"""Parsing and validation of the parameters in a page's address."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request

from arena.queries.directory import games_named
from arena.queries.source import LARGEST_MATCH, DataSource, choose_ladders
from arena.store.base.errors import NoSuchLadder, NoSuchSeason, Refused
from arena.store.base.rows import LadderEntryRow, LadderRows, SeasonRow
from arena.web.reading.reader import Missing
from arena.web.requests.numbers import MOST_SEASONS, SHOWN, whole_number


class AskedLadder(NamedTuple):
    """The season of a ladder that an address names."""

    game: str
    ladder: str
    season: int
    entry: LadderEntryRow

    @property
    def seasons(self) -> tuple[SeasonRow, ...]:
        """The seasons of the ladder, in order."""
        return self.entry.seasons

    @property
    def past(self) -> int:
        """The season's number if it is a past season; 0 if it is the current one."""
        return 0 if self.season == self.seasons[-1].number else self.season

    @property
    def path(self) -> str:
        """The path of the ladder's page, below the home page, without the season."""
        return f"/ladder/{quote(self.ladder, safe='')}"

    @property
    def query(self) -> str:
        """The query with which other pages refer to the season."""
        name = f"game={self.game}" if self.ladder == self.game else f"ladder={quote(self.ladder, safe='')}"
        return f"{name}&season={self.past}" if self.past else name

    def read(self, source: DataSource) -> LadderRows:
        """Return the season's standings. They are empty for a ladder without a match, which only the server knows."""
        try:
            return source.ladder(self.game, ladder=self.ladder, season=self.season)
        except NoSuchLadder:
            return LadderRows(self.game, 0, (), None, "", None, None, ladder=self.ladder, season=self.season)


async def ladders_listed(request: Request) -> tuple[LadderEntryRow, ...]:
    """Return the ladders of the data source and of the server."""
    found: tuple[LadderEntryRow, ...] = await request.app.state.live.ladders()
    return found


async def ladder_asked(request: Request) -> AskedLadder:
    """Return the ladder named in the path, in the season that the query names.

    Raises:
        Missing: there is no such ladder or season.
    """
    return await _asked(request, "", request.path_params["ladder"])


async def ladder_queried(request: Request) -> AskedLadder | None:
    """Return the ladder that the query names with game, ladder and season; None if it names neither game nor ladder.

    Raises:
        Missing: there is no such ladder.
    """
    game, ladder = known_game(request.query_params.get("game", "")), request.query_params.get("ladder", "")
    return await _asked(request, game, ladder) if game or ladder else None


async def _asked(request: Request, game: str, ladder: str) -> AskedLadder:
    ladders = await ladders_listed(request)
    season = number_asked(request, "season", MOST_SEASONS) or 0
    try:
        [chosen] = choose_ladders(ladders, game, ladder, season)
    except Refused as error:
        raise Missing(str(error)) from error
    [entry] = [each for each in ladders if each.name == chosen.ladder]
    if chosen.season > len(entry.seasons):
        raise Missing(str(NoSuchSeason(chosen.ladder, chosen.season, len(entry.seasons))))
    return AskedLadder(*chosen, entry)


def known_game(name: str) -> str:
    """Check that `name` is empty or the name of a game, and return it.

    Raises:
        Missing: there is no such game.
    """
    try:
        games_named(name or None)
    except Refused as error:
        raise Missing(str(error)) from error
    return name


def number_asked(request: Request, name: str, largest: int = LARGEST_MATCH) -> int | None:
    """Return an integer from 0 to `largest`, or None if the parameter is absent.

    Raises:
        Missing: the parameter is not an integer in this range.
    """
    typed = request.query_params.get(name, "")
    if not typed:
        return None
    number = whole_number(typed, 0, largest)
    if number is None:
        raise Missing(f"{name} is a whole number from 0 to {largest}, not {typed[:SHOWN]!r}")
    return number


def instant_asked(request: Request, name: str, *, begins: bool = False) -> datetime | None:
    """Return a time, in UTC unless the text names another zone; None if the parameter is absent.

    A day without a time means its end, or its start with `begins`.

    Raises:
        Missing: the parameter is not a date or time.
    """
    typed = request.query_params.get(name, "")
    if not typed:
        return None
    try:
        found = datetime.fromisoformat(typed)
        if len(typed) <= len("2026-11-23"):
            found = datetime.combine(found, time.min if begins else time.max)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Missing(f"{name} is a date or an instant such as 2026-11-23T18:30, not {typed[:SHOWN]!r}") from None
