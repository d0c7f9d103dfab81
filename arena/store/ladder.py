"""The ladder's rows: what each bot's matches add up to, per game. The arithmetic is `arena.ladder`'s."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from arena.ladder import live
from arena.ladder.live import Rating, RatingChange
from arena.ladder.standings import Record, Standing, relative_rank
from arena.ladder.standings import standings as ranked
from arena.store import schema
from arena.store.bots import BotId

_COLUMNS: Final = schema.ratings.c
# Made once, as in `matches`: making a statement costs SQLAlchemy more than running it.
_KNOWN: Final = select(schema.ratings).where(
    _COLUMNS.game == bindparam("of_game"), _COLUMNS.bot_id.in_(bindparam("of_bots", expanding=True))
)
_ENTER: Final = insert(schema.ratings)
_MOVE: Final = update(schema.ratings).where(
    _COLUMNS.bot_id == bindparam("of_bot"), _COLUMNS.game == bindparam("of_game")
)


def rate(
    connection: Connection, game: str, bots: Sequence[BotId], places: Sequence[int], counts: Sequence[bool]
) -> tuple[RatingChange, ...]:
    """Moves the ratings of the bots of one match, by seat, for whom it counts; for a bot in several seats it is one.

    It won where one of its seats did, and its relative rank is the mean of its seats'.
    """
    known = connection.execute(_KNOWN, {"of_game": game, "of_bots": [*set(bots)]})
    rows = {row.bot_id: row for row in known}
    before = tuple(_rating(rows[bot]) if bot in rows else live.NEW for bot in bots)
    after = live.update(before, places, bots, counts)
    changes = tuple(RatingChange(*pair) for pair in zip(before, after, strict=True))

    new: list[dict[str, Any]] = []
    old: list[dict[str, Any]] = []
    for bot, change in {bot: each for bot, each, does in zip(bots, changes, counts, strict=True) if does}.items():
        own = [place for owner, place in zip(bots, places, strict=True) if owner == bot]
        row = rows.get(bot)
        values = {
            "rating": change.after.value,
            "deviation": change.after.deviation,
            "matches": (row.matches if row else 0) + 1,
            "wins": (row.wins if row else 0) + int(min(own) == 1),
            "rank_sum": (row.rank_sum if row else 0.0) + fmean(relative_rank(place, len(bots)) for place in own),
            "last_change": change.change,
        }
        if row:
            old.append({"of_bot": bot, "of_game": game, **values})
        else:
            new.append({"bot_id": bot, "game": game, **values})
    if new:
        connection.execute(_ENTER, new)
    if old:
        connection.execute(_MOVE, old)
    return changes


def rating(connection: Connection, bot: BotId, game: str) -> Rating:
    """The rating of a bot in a game; before its first match that of all new ones."""
    columns = schema.ratings.c
    row = connection.execute(select(schema.ratings).where(columns.bot_id == bot, columns.game == game)).one_or_none()
    return live.NEW if row is None else _rating(row)


def standings(connection: Connection, game: str) -> tuple[Standing, ...]:
    """The ladder of a game: every bot with a finished match, best first."""
    query = select(schema.ratings, schema.bots).join(schema.bots).where(schema.ratings.c.game == game)
    return ranked(
        Record(
            bot=row.name,
            owner=row.owner,
            house=bool(row.house),
            rating=_rating(row),
            matches=row.matches,
            wins=row.wins,
            rank_sum=row.rank_sum,
            last_change=row.last_change,
        )
        for row in connection.execute(query)
    )


def _rating(row: Row[Any]) -> Rating:
    return Rating(row.rating, row.deviation)
