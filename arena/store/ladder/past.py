"""Published ladders of the past: all of the last day, one an hour of the last month, and one a day from before.

Of an hour or a day the last one stays. Hours and days are those of UTC.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, delete, insert, select

from arena.ladder.ladder import Ladder
from arena.store import schema
from arena.store.base.rows import PastLadder, PastLadderRow, instant

HOUR: Final = 3_600_000_000
DAY: Final = 24 * HOUR
MONTH: Final = 30 * DAY
"""Microseconds."""

_LADDERS: Final = schema.kept_ladders.c
_LINES: Final = schema.kept_standings.c
_FIGURES: Final = tuple(column.name for column in _LINES if column.name != "ladder_id")


def keep(connection: Connection, game: str, ladder: Ladder, at: int) -> None:
    """Keep a ladder that is published at this instant, unless it is that before, and drop what is too old to stay."""
    newest = select(_LADDERS.digest).where(_LADDERS.game == game).order_by(_LADDERS.id.desc()).limit(1)
    if connection.scalar(newest) != ladder.digest:
        row = {"game": game, "at": at, "through": ladder.through, "digest": ladder.digest}
        row["scale_error"] = ladder.field.scale_error
        kept = connection.execute(insert(schema.kept_ladders).values(row).returning(_LADDERS.id)).scalar_one()
        lines = [{"ladder_id": kept, **{name: getattr(line, name) for name in _FIGURES}} for line in ladder.lines]
        if lines:
            connection.execute(insert(schema.kept_standings), lines)
    _thin(connection, game, at)


def published_until(connection: Connection, game: str, at: int) -> PastLadder:
    """Return the last ladder of a game that is kept and was published until an instant, in microseconds since 1970."""
    until = select(schema.kept_ladders).where(_LADDERS.game == game, _LADDERS.at <= at)
    row = connection.execute(until.order_by(_LADDERS.at.desc(), _LADDERS.id.desc()).limit(1)).one_or_none()
    if row is None:
        return PastLadder(game, None, None, "", None, ())
    lines, version, bot = schema.kept_standings, schema.versions.c, schema.bots.c
    query = select(lines, version.version, bot.name, bot.owner, bot.house, bot.hidden)
    query = query.select_from(lines.join(schema.versions).join(schema.bots)).where(_LINES.ladder_id == row.id)
    standings = (
        PastLadderRow(
            rank=line.rank,
            bot=line.name,
            owner=line.owner if line.hidden is None else "",
            house=bool(line.house),
            version=line.version,
            rating=line.shrunk,
            deviation=line.shrunk_error,
            fitted=line.rating,
            fitted_deviation=line.error,
            rank_low=line.rank_low,
            rank_high=line.rank_high,
            best=line.best,
            matches=line.matches,
            opponents=line.opponents,
        )
        for line in connection.execute(query.order_by(_LINES.rank, _LINES.node))
    )
    return PastLadder(game, instant(row.at), row.through, row.digest, row.scale_error, tuple(standings))


def _thin(connection: Connection, game: str, now: int) -> None:
    """Drop ladders after which another one was published within the same hour, or day, that is long enough ago."""
    later = schema.kept_ladders.alias("later")
    gone = list[int]()
    for oldest, newest, length in ((now - DAY - MONTH, now - DAY, HOUR), (0, now - MONTH, DAY)):
        end = (_LADDERS.at // length + 1) * length
        same = select(later.c.id).where(later.c.game == game, later.c.at > _LADDERS.at, later.c.at < end)
        old = (_LADDERS.game == game) & (_LADDERS.at >= oldest) & (_LADDERS.at < newest)
        gone += connection.scalars(select(_LADDERS.id).where(old, same.exists()))
    if gone:
        connection.execute(delete(schema.kept_standings).where(_LINES.ladder_id.in_(gone)))
        connection.execute(delete(schema.kept_ladders).where(_LADDERS.id.in_(gone)))
