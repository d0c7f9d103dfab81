"""The seasons of ladders. Each season has a new ladder id under the ladder's name, and earlier seasons never change.

The id of the first season is the ladder's name. That season has no row, because a ladder needs none to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from sqlalchemy import Connection, func, insert, select

from arena.log.leaf import LeafKind
from arena.store import schema
from arena.store.base import changes
from arena.store.base import leaves as log
from arena.store.base.errors import LadderOfOtherGame, NoLadderNamed, NoSuchLadder, NoSuchSeason
from arena.store.base.rows import SeasonRow, instant

_SEASONS: Final = schema.seasons.c
_MATCHES: Final = schema.matches.c


class Season(NamedTuple):
    """A season of a ladder."""

    ladder: str
    """The name of the ladder."""
    number: int
    id: str
    """The ladder id of the season."""
    begun: int | None
    """Time at which the season started, in microseconds since 1970; None for the first season."""


def name_of(ladder_id: str) -> str:
    """Return the name of the ladder to which an id belongs."""
    return ladder_id.partition("/")[0]


def id_of(ladder: str, number: int) -> str:
    """Return the ladder id of a season."""
    return ladder if number == 1 else f"{ladder}/{number}"


def list_seasons(connection: Connection, ladder: str) -> tuple[Season, ...]:
    """Return the seasons of the ladder with this name, in order."""
    rows = connection.execute(select(schema.seasons).where(_SEASONS.ladder == ladder).order_by(_SEASONS.number))
    return (Season(ladder, 1, ladder, None), *(Season(*row) for row in rows))


def current(connection: Connection, ladder: str) -> Season:
    """Return the current season of the ladder with this name."""
    return list_seasons(connection, ladder)[-1]


def current_ids(connection: Connection, ladders: Iterable[str]) -> dict[str, str]:
    """Return the ids of the current seasons, by ladder name."""
    return {ladder: current(connection, ladder).id for ladder in ladders}


def find(connection: Connection, ladder: str, number: int) -> Season:
    """Return a season by its number. Raises: NoSuchSeason."""
    seasons = list_seasons(connection, ladder)
    if not 0 < number <= len(seasons):
        raise NoSuchSeason(ladder, number, len(seasons))
    return seasons[number - 1]


def begin(connection: Connection, ladder: str, at: int) -> Season:
    """Start the next season of the ladder with this name, and record it in the log.

    Running matches still count for the season in which they started.
    """
    number = current(connection, ladder).number + 1
    season = Season(ladder, number, id_of(ladder, number), at)
    connection.execute(insert(schema.seasons).values(season._asdict()))
    log.append(connection, LeafKind.SEASON, at, name=ladder, season=number, ladder=season.id)
    changes.note(connection, changes.SEASON, ladder)
    return season


def summaries(connection: Connection, ladder: str) -> tuple[SeasonRow, ...]:
    """Return the seasons of the ladder with this name, in order, with the state of their standings."""
    return tuple(_summary(connection, season) for season in list_seasons(connection, ladder))


def _summary(connection: Connection, season: Season) -> SeasonRow:
    rating, result, fit = schema.ratings, schema.rated_results.c, schema.ladders.c
    at = connection.scalar(select(fit.at).where(fit.ladder == season.id))
    events = connection.scalar(select(func.max(result.number)).where(result.ladder == season.id))
    rated = select(func.count(schema.versions.c.bot_id.distinct())).select_from(rating.join(schema.versions))
    return SeasonRow(
        season.number,
        None if season.begun is None else instant(season.begun),
        None if at is None else instant(at),
        events or 0,
        connection.scalar(rated.where(rating.c.ladder == season.id, rating.c.matches > 0)) or 0,
    )


def resolve(
    connection: Connection, known: Mapping[str, str], game: str = "", ladder: str = "", number: int = 0
) -> Season:
    """Return the season that a game, a ladder's name and a season's number identify. Each may be empty or 0.

    A game alone stands for its default ladder, and 0 for the current season. `known`: the game of each ladder, by
    ladder name; a default ladder has the name of its game.

    Raises: NoLadderNamed, NoSuchLadder, LadderOfOtherGame, NoSuchSeason.
    """
    if not (game or ladder):
        raise NoLadderNamed(number)
    name = chosen(known, game, ladder)
    return find(connection, name, number) if number else current(connection, name)


def chosen(known: Mapping[str, str], game: str, ladder: str) -> str:
    """Return the name of the ladder for a game and a ladder's name, one of which may be empty.

    Raises: NoSuchLadder, LadderOfOtherGame.
    """
    name = ladder or game
    if name not in known:
        raise NoSuchLadder(name, known)
    if game and known[name] != game:
        raise LadderOfOtherGame(name, known[name], game)
    return name


def named(ladder_id: str, game: str) -> tuple[str, int]:
    """Return the ladder name and the season number of a ladder id.

    The name is empty and the number 0 in the first season of a game's default ladder.
    """
    name, _, number = ladder_id.partition("/")
    return ("", 0) if ladder_id == game else (name, int(number or 1))


def games_of(connection: Connection) -> dict[str, str]:
    """Return the game of each ladder that has a match, sorted by ladder name.

    The cost grows with the number of ladders and seasons, not with the number of matches.
    """
    games: dict[str, str] = {}
    ladder_id = connection.scalar(select(func.min(_MATCHES.ladder)))
    while ladder_id is not None:
        game = select(_MATCHES.game).where(_MATCHES.ladder == ladder_id).limit(1)
        games.setdefault(name_of(ladder_id), connection.scalar(game) or "")
        ladder_id = connection.scalar(select(func.min(_MATCHES.ladder)).where(_MATCHES.ladder > ladder_id))
    return dict(sorted(games.items()))
