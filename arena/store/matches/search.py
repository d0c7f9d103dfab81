"""A search for matches by their properties, one page at a time.

The cost of a page does not depend on the length of the history. Without a suitable index, a page covers a limited
number of matches, and states where the next page starts.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, exists, func, or_, select

from arena.store import schema
from arena.store.base.errors import Refused, UnknownBot
from arena.store.base.rows import MatchRow, MatchState
from arena.store.bots.bots import known
from arena.store.matches.matches import list_matches, newest, with_seats

SEARCHED: Final = 2000
"""Maximum number of matches that one page covers."""

_MATCHES: Final = schema.matches.c
_SEATS: Final = schema.match_seats.c


class NoSuchSearch(Refused):
    """A search has a condition on a bot but names no bot. The message gives the condition."""


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """The conditions of a search. An empty or None condition excludes nothing."""

    game: str = ""
    bot: str = ""
    """The bot's name, possibly a former one."""
    opponent: str = ""
    """Another bot that also played. Requires `bot`."""
    seats: int = 0
    """Number of seats at the table."""
    since: int | None = None
    until: int | None = None
    """Bounds on the start of the match: at `since` or later, and before `until`."""
    faults: bool = False
    """True to select matches in which the server made decisions for `bot`, or house bots made too many of them."""
    lost: bool = False
    """True to select matches in which `bot` came last. A tie of all seats does not count."""
    state: MatchState | None = None
    ladder_id: str = ""


@dataclass(frozen=True, slots=True)
class MatchPage:
    """Matches that were found, the newest first."""

    matches: tuple[MatchRow, ...]
    next: int | None
    """The number below which the next page starts; None on the last page.

    A page may be empty without being the last.
    """


def search(connection: Connection, wanted: MatchFilter, limit: int = 50, before: int | None = None) -> MatchPage:
    """Return the newest matches below `before` that meet the conditions. An unknown bot has no matches.

    Raises: NoSuchSearch.
    """
    if wanted == MatchFilter(game=wanted.game, bot=wanted.bot, ladder_id=wanted.ladder_id):
        found = list_matches(
            connection, game=wanted.game, bot=wanted.bot, limit=limit, before=before, ladder_id=wanted.ladder_id
        )
        return MatchPage(found, found[-1].match_id if len(found) == limit else None)
    if not wanted.bot and (wanted.opponent or wanted.faults or wanted.lost):
        asked = "an opponent" if wanted.opponent else "faults" if wanted.faults else "lost matches"
        raise NoSuchSearch(f"a search for {asked} needs a bot; name one")
    try:
        bot = known(connection, wanted.bot).id if wanted.bot else None
        opponent = known(connection, wanted.opponent).id if wanted.opponent else None
    except UnknownBot:
        return MatchPage((), None)
    if wanted.until is not None:
        before = min(_first_since(connection, wanted.until), before or (1 << 62))
    least = 0 if wanted.since is None else _first_since(connection, wanted.since)
    looked = _looked_at(bot, wanted, least, before).limit(SEARCHED).subquery()
    first, count = connection.execute(select(func.min(looked.c.id), func.count()).select_from(looked)).one()
    query = select(schema.matches).join(looked, looked.c.id == _MATCHES.id)
    rows = connection.execute(
        query.where(*_conditions(wanted, bot, opponent)).order_by(_MATCHES.id.desc()).limit(limit)
    ).all()
    further = rows[-1].id if len(rows) == limit else first if count == SEARCHED else None
    return MatchPage(with_seats(connection, rows), further)


def _looked_at(bot: int | None, wanted: MatchFilter, least: int, before: int | None) -> Select[tuple[int]]:
    """Return a query for the candidates' match numbers, newest first. It uses only an index."""
    if bot is None:
        number, query = _MATCHES.id, select(_MATCHES.id.label("id"))
        if wanted.state is not None:
            query = query.where(_MATCHES.state == wanted.state.value)
        elif wanted.ladder_id:
            query = query.where(_MATCHES.ladder == wanted.ladder_id)
        elif wanted.game:
            query = query.where(_MATCHES.game == wanted.game)
    else:
        number = _SEATS.match_id
        query = select(number.label("id")).where(_SEATS.bot_id == bot).group_by(number)
    query = query.where(number >= least)
    if before is not None:
        query = query.where(number < before)
    return query.order_by(number.desc())


def _conditions(wanted: MatchFilter, bot: int | None, opponent: int | None) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.game:
        conditions.append(_tested(_MATCHES.game) == wanted.game)
    if wanted.ladder_id:
        conditions.append(_tested(_MATCHES.ladder) == wanted.ladder_id)
    if wanted.state is not None:
        conditions.append(_tested(_MATCHES.state) == wanted.state.value)
    if wanted.seats:
        conditions.append(_MATCHES.seats == wanted.seats)
    if wanted.since is not None:
        conditions.append(_MATCHES.started >= wanted.since)
    if wanted.until is not None:
        conditions.append(_MATCHES.started < wanted.until)
    own = schema.match_seats.alias("own")
    here = and_(own.c.match_id == _MATCHES.id, own.c.bot_id == bot)
    if wanted.faults:
        conditions.append(exists().where(here, or_(own.c.forced > 0, own.c.spoilt > 0)))
    if wanted.lost:
        other = schema.match_seats.alias("other")
        worse = exists().where(other.c.match_id == own.c.match_id, other.c.place > own.c.place)
        conditions.append(exists().where(here, own.c.place > 1, ~worse))
    if opponent is not None:
        them = schema.match_seats.alias("them")
        other_seat = and_(them.c.match_id == own.c.match_id, them.c.bot_id == opponent, them.c.seat != own.c.seat)
        conditions.append(exists().where(here, other_seat))
    return conditions


def _tested(column: Column[str]) -> ColumnElement[str]:
    """Return a column in a form that no index covers, so that a condition on it only filters the candidates."""
    return column.concat("")


def _first_since(connection: Connection, at: int) -> int:
    """Return a match number such that every match below it started before the time `at`.

    Matches are numbered in the order of their starts. So bisection reads one row per step and needs no index on times.
    """

    def started(number: int) -> int:
        query = select(_MATCHES.started).where(_MATCHES.id >= number).order_by(_MATCHES.id).limit(1)
        found = connection.scalar(query)
        return at if found is None else found

    return bisect_left(range(newest(connection) + 1), at, key=started)
