"""The seasons of ladders. A season is a new ladder id under the ladder's name; nothing of earlier seasons changes.

The first season has the ladder's name as its id. It has no row, because a ladder needs none to begin.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Connection, insert, select

from arena.store import schema
from arena.store.base.errors import NoSuchSeason

_SEASONS: Final = schema.seasons.c


class Season(NamedTuple):
    """A season of a ladder."""

    ladder: str
    """The name of the ladder."""
    number: int
    id: str
    """The ladder id of the season."""
    begun: int | None
    """Time at which the season began, in microseconds since 1970; None for the first season."""


def name_of(ladder_id: str) -> str:
    """Return the name of the ladder to which an id belongs."""
    return ladder_id.partition("/")[0]


def list_seasons(connection: Connection, ladder: str) -> tuple[Season, ...]:
    """Return the seasons of the ladder with this name, in order."""
    rows = connection.execute(select(schema.seasons).where(_SEASONS.ladder == ladder).order_by(_SEASONS.number))
    return (Season(ladder, 1, ladder, None), *(Season(*row) for row in rows))


def current(connection: Connection, ladder: str) -> Season:
    """Return the current season of the ladder with this name."""
    return list_seasons(connection, ladder)[-1]


def find(connection: Connection, ladder: str, number: int) -> Season:
    """Return a season by its number. Raises: NoSuchSeason."""
    seasons = list_seasons(connection, ladder)
    if not 0 < number <= len(seasons):
        raise NoSuchSeason(ladder, number, len(seasons))
    return seasons[number - 1]


def begin(connection: Connection, ladder: str, at: int) -> Season:
    """Begin the next season of the ladder with this name. Running matches still count for the season they began in."""
    number = current(connection, ladder).number + 1
    season = Season(ladder, number, f"{ladder}/{number}", at)
    connection.execute(insert(schema.seasons).values(season._asdict()))
    return season
