"""Every version of a bot beside the one before it, from the last published fit: is the newer one better?

Nothing is fitted for it. Published are the errors of single ratings, so that of a difference is taken as if the two
were independent. Versions of a bot meet the same opponents: their errors go the same way, and that of the difference is
smaller than said, not larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, hypot, sqrt
from typing import Any

from sqlalchemy import Connection, Row, and_, select

from arena.ladder.ladder import FlagKind
from arena.store import bots, schema
from arena.store.rows import VersionRow, instant


def version_standings(
    connection: Connection, bot: str, game: str, limit: int = 1000, before: int | None = None
) -> tuple[VersionRow, ...]:
    """Return the last `limit` versions of a bot with a result in a game that counts, the newest first. UnknownBot.

    With `before` only those with smaller numbers.
    """
    rating, version, fitted, flag = schema.ratings, schema.versions.c, schema.standings, schema.flags
    query = select(version.id, version.version, rating.c.matches, rating.c.rating.label("live"))
    query = query.add_columns(rating.c.first_at, rating.c.last_at)
    query = query.add_columns(
        fitted.c.rating.label("fitted"), fitted.c.error, fitted.c.rank, flag.c.size.label("changed")
    )
    joined = schema.versions.join(rating, and_(rating.c.node == version.id, rating.c.game == game))
    joined = joined.outerjoin(fitted, and_(fitted.c.node == version.id, fitted.c.game == game))
    change = and_(flag.c.node == version.id, flag.c.game == game, flag.c.kind == FlagKind.CHANGE.value)
    query = query.select_from(joined.outerjoin(flag, change)).where(
        version.bot_id == bots.known(connection, bot).id, rating.c.matches > 0
    )
    if before is not None:
        query = query.where(version.id < before)
    found: Sequence[Any] = connection.execute(query.order_by(version.id.desc()).limit(limit + 1)).all()
    return tuple(_compared(*pair) for pair in zip(found[:limit], [*found[1:], None], strict=False))


def _compared(row: Row[Any], earlier: Row[Any] | None) -> VersionRow:
    """Make the row of a version from its figures and those of the one before it, if there is one."""
    difference = error = better = None
    if earlier is not None and row.fitted is not None and earlier.fitted is not None:
        difference, error = row.fitted - earlier.fitted, hypot(row.error, earlier.error)
        better = erfc(-difference / error / sqrt(2)) / 2 if error else float(difference > 0)
    return VersionRow(
        number=row.id,
        version=row.version,
        shown=row.rank is not None,
        matches=row.matches,
        first=None if row.first_at is None else instant(row.first_at),
        last=None if row.last_at is None else instant(row.last_at),
        live=row.live,
        fitted=row.fitted,
        fitted_deviation=row.error,
        difference=difference,
        difference_deviation=error,
        better=better,
        changed=row.changed,
    )
