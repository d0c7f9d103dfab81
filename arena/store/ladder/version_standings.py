"""Comparison of each version of a bot with the previous one, from the last published fit: is the newer one better?

Only errors of single ratings are published. So the error of a difference is computed as if the two ratings were
independent. The true error is smaller, because versions of a bot meet the same opponents. P(better) also depends on how
much versions gain on this ladder (see `arena.ladder.version_gains`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import hypot
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, Row, and_, func, select

from arena.ladder.ladder import FlagKind
from arena.ladder.version_gains import VersionGains
from arena.store import schema
from arena.store.base.rows import VersionRow, instant
from arena.store.bots import bots

MOST_OF_A_BOT: Final = 10
"""Maximum number of a bot's differences, newest first, for estimating the spread of gains. The limit keeps bots with
many versions from dominating.
"""
MOST: Final = 200
"""Maximum number of differences over all bots, newest first, for that estimate. More would not improve it."""


_learned: Final = lru_cache(maxsize=8)(VersionGains)


def version_standings(
    connection: Connection, bot: str, ladder_id: str, limit: int = 1000, before: int | None = None
) -> tuple[VersionRow, ...]:
    """Return the last `limit` versions of a bot with a result that counts on a ladder, newest first.

    With `before`, only versions with smaller numbers. Raises: UnknownBot.
    """
    rating, version, fitted, flag = schema.ratings, schema.versions.c, schema.standings, schema.flags
    query = select(version.id, version.version, rating.c.matches, rating.c.rating.label("live"))
    query = query.add_columns(rating.c.first_at, rating.c.last_at)
    query = query.add_columns(
        fitted.c.rating.label("fitted"), fitted.c.error, fitted.c.rank, flag.c.size.label("changed")
    )
    joined = schema.versions.join(rating, and_(rating.c.node == version.id, rating.c.ladder == ladder_id))
    joined = joined.outerjoin(fitted, and_(fitted.c.node == version.id, fitted.c.ladder == ladder_id))
    change = and_(flag.c.node == version.id, flag.c.ladder == ladder_id, flag.c.kind == FlagKind.CHANGE.value)
    query = query.select_from(joined.outerjoin(flag, change)).where(
        version.bot_id == bots.known(connection, bot).id, rating.c.matches > 0
    )
    if before is not None:
        query = query.where(version.id < before)
    found: Sequence[Any] = connection.execute(query.order_by(version.id.desc()).limit(limit + 1)).all()
    gains = _learned(_differences(connection, ladder_id))
    return tuple(_compared(gains, *pair) for pair in zip(found[:limit], [*found[1:], None], strict=False))


def _differences(connection: Connection, ladder_id: str) -> tuple[tuple[float, float], ...]:
    """Return the newest differences between successive versions on the published ladder, with their errors."""
    version, fitted = schema.versions.c, schema.standings.c

    def before(column: Column[float]) -> ColumnElement[float]:
        return func.lag(column).over(partition_by=version.bot_id, order_by=version.id)

    age = func.row_number().over(partition_by=version.bot_id, order_by=version.id.desc()).label("age")
    figures = version.id, fitted.rating, fitted.error, before(fitted.rating).label("rating_before")
    pairs = select(*figures, before(fitted.error).label("error_before"), age)
    pairs = pairs.select_from(schema.versions.join(schema.standings, fitted.node == version.id))
    found = pairs.where(fitted.ladder == ladder_id).subquery().c
    query = select(found.rating - found.rating_before, found.error, found.error_before)
    query = query.where(found.rating_before.is_not(None), found.age <= MOST_OF_A_BOT)
    rows = connection.execute(query.order_by(found.id.desc()).limit(MOST))
    return tuple((difference, hypot(error, error_before)) for difference, error, error_before in rows)


def _compared(gains: VersionGains, row: Row[Any], earlier: Row[Any] | None) -> VersionRow:
    """Return the row of a version. `earlier`: the figures of the preceding version, if any."""
    difference = error = better = None
    if earlier is not None and row.fitted is not None and earlier.fitted is not None:
        difference, error = row.fitted - earlier.fitted, hypot(row.error, earlier.error)
        better = gains.better(difference, error)
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
