"""The published ladders (the last fit of each ladder, stored bit for bit) and past ladders.

Past ladders are thinned out. All ladders of the last day stay, then one per hour for a month, and then one per day. Of
each hour or day (in UTC), the last ladder stays.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from arena.ladder.events import Entrant, Node, day_of
from arena.ladder.ladder import NO_QUOTA, FieldFigures, Figure, Flag, FlagKind, Ladder, LadderLine, Quota
from arena.ladder.live import replayed_since, start
from arena.ladder.luck_columns import LuckFigures
from arena.store import schema
from arena.store.base import changes
from arena.store.base.rows import PastLadder, PastLadderRow, instant
from arena.store.ladder import events, pair_days
from arena.store.ladder.seasons import named

_RATINGS: Final = schema.ratings.c
_LINES: Final = schema.standings.c
_FLAGS: Final = schema.flags.c
_SHOWN: Final = ("shrunk", "shrunk_error", "rank", "rank_low", "rank_high", "best")
_LUCK_FIGURES: Final = ("plain", "plain_error", "adjusted", "adjusted_error")
HOUR: Final = 3_600_000_000
DAY: Final = 24 * HOUR
MONTH: Final = 30 * DAY
"""Length of the month for which hourly ladders are stored, in microseconds."""

_LADDERS: Final = schema.kept_ladders.c
_KEPT_LINES: Final = schema.kept_standings.c
_FIGURES: Final = tuple(column.name for column in _KEPT_LINES if column.name != "ladder_id")


def publish(connection: Connection, ladder_id: str, ladder: Ladder, at: int) -> bool:
    """Publish a ladder, store it, and rebase the live ratings on it.

    Return False if a later ladder is already published.

    Results after the ladder's last event are applied to the live ratings again.
    """
    if through(connection, ladder_id) > ladder.through:
        return False
    connection.execute(delete(schema.standings).where(_LINES.ladder == ladder_id))
    connection.execute(delete(schema.flags).where(_FLAGS.ladder == ladder_id))
    connection.execute(delete(schema.ladders).where(schema.ladders.c.ladder == ladder_id))
    row = {"ladder": ladder_id, "at": at}
    row |= {"through": ladder.through, "digest": ladder.digest, "replayed": ladder.replayed}
    row |= {"pair_quota": ladder.quota.day, "pair_week_quota": ladder.quota.week}
    row |= {"pair_young_days": ladder.quota.young_days}
    connection.execute(insert(schema.ladders).values(row | ladder.field._asdict()))
    lines = {line.node: {name: getattr(line, name) for name in _SHOWN} for line in ladder.lines}
    luck = {each.node: _luck(each) for each in ladder.luck}
    unranked, unknown = dict.fromkeys(_SHOWN), dict.fromkeys(("replayed", *_LUCK_FIGURES))
    rows = [
        {"ladder": ladder_id, **figure._asdict()} | lines.get(figure.node, unranked) | luck.get(figure.node, unknown)
        for figure in ladder.figures
    ]
    if rows:
        connection.execute(insert(schema.standings), rows)
    standing_out = [
        {"ladder": ladder_id, "number": number, **flag._asdict(), "kind": flag.kind.value}
        for number, flag in enumerate(ladder.flags, start=1)
    ]
    if standing_out:
        connection.execute(insert(schema.flags), standing_out)
    keep(connection, ladder_id, ladder, at)
    _restart_live_ratings(connection, ladder_id, ladder)
    pair_days.forget(connection, ladder_id, before=day_of(at) - 1)
    changes.note(connection, changes.LADDER, ladder_id)
    return True


def published_at(connection: Connection, ladder_id: str) -> int | None:
    """Return the time at which the ladder was published, in microseconds since 1970; None before the first fit."""
    at: int | None = connection.scalar(select(schema.ladders.c.at).where(schema.ladders.c.ladder == ladder_id))
    return at


def through(connection: Connection, ladder_id: str) -> int:
    """Return the number of the last event in the published ladder; 0 before the first fit."""
    return connection.scalar(select(schema.ladders.c.through).where(schema.ladders.c.ladder == ladder_id)) or 0


def quota(connection: Connection, ladder_id: str) -> Quota:
    """Return the quota under which the published ladder was fitted."""
    row = connection.execute(select(schema.ladders).where(schema.ladders.c.ladder == ladder_id)).one_or_none()
    return NO_QUOTA if row is None else _quota(row)


def _quota(row: Row[Any]) -> Quota:
    return Quota(row.pair_quota, row.pair_week_quota, row.pair_young_days)


def replayed(connection: Connection, ladder_id: str) -> int:
    """Return the number of the last baseline in the published ladder; 0 if it has none."""
    return connection.scalar(select(schema.ladders.c.replayed).where(schema.ladders.c.ladder == ladder_id)) or 0


def as_published(connection: Connection, ladder_id: str) -> Ladder | None:
    """Return the published ladder, or None before the first fit."""
    row = connection.execute(select(schema.ladders).where(schema.ladders.c.ladder == ladder_id)).one_or_none()
    if row is None:
        return None
    found = connection.execute(select(schema.standings).where(_LINES.ladder == ladder_id).order_by(_LINES.node)).all()
    lines = [
        LadderLine(*(getattr(line, name) for name in LadderLine._fields)) for line in found if line.rank is not None
    ]
    return Ladder(
        tuple(sorted(lines, key=lambda line: (line.rank, line.node))),
        tuple(Figure(Node(line.node), line.rating, line.error, line.matches, line.opponents) for line in found),
        row.through,
        row.digest,
        FieldFigures(row.scale_error, row.centre, row.spread),
        tuple(
            LuckFigures(
                Node(line.node), line.replayed, line.plain, line.plain_error, line.adjusted, line.adjusted_error
            )
            for line in found
            if line.replayed is not None
        ),
        row.replayed,
        tuple(
            Flag(FlagKind(each.kind), Node(each.node), each.other, each.matches, each.size, each.errors)
            for each in connection.execute(
                select(schema.flags).where(_FLAGS.ladder == ladder_id).order_by(_FLAGS.number)
            )
        ),
        _quota(row),
    )


def _luck(luck: LuckFigures) -> dict[str, float | None]:
    return {"replayed": luck.matches, **{name: getattr(luck, name) for name in _LUCK_FIGURES}}


def _restart_live_ratings(connection: Connection, ladder_id: str, ladder: Ladder) -> None:
    versions = connection.execute(select(schema.versions.c.id, schema.versions.c.parent))
    entrants = [Entrant(Node(row.id), row.parent) for row in versions]
    later = tuple(events.read(connection, ladder_id, after=ladder.through))
    beyond = pair_days.counted_again(connection, ladder_id, later, ladder.quota)
    ratings = replayed_since(ladder, entrants, later, beyond)
    rated = connection.scalars(select(_RATINGS.node).where(_RATINGS.ladder == ladder_id)).all()
    move = update(schema.ratings).where(_RATINGS.ladder == ladder_id, _RATINGS.node == bindparam("of_node"))
    seated = {node: ratings.get(node, start(None)) for node in rated}
    rows = [{"of_node": node, "rating": each.value, "deviation": each.deviation} for node, each in seated.items()]
    if rows:
        connection.execute(move, rows)


def keep(connection: Connection, ladder_id: str, ladder: Ladder, at: int) -> None:
    """Store a ladder published at the time `at`, unless it equals the previous ladder.

    Delete ladders that are too old.
    """
    newest = select(_LADDERS.digest).where(_LADDERS.ladder == ladder_id).order_by(_LADDERS.id.desc()).limit(1)
    if connection.scalar(newest) != ladder.digest:
        row = {"ladder": ladder_id, "at": at, "through": ladder.through, "digest": ladder.digest}
        row["scale_error"] = ladder.field.scale_error
        kept = connection.execute(insert(schema.kept_ladders).values(row).returning(_LADDERS.id)).scalar_one()
        lines = [{"ladder_id": kept, **{name: getattr(line, name) for name in _FIGURES}} for line in ladder.lines]
        if lines:
            connection.execute(insert(schema.kept_standings), lines)
    _thin(connection, ladder_id, at)


def published_until(connection: Connection, ladder_id: str, game: str, at: int) -> PastLadder:
    """Return a game's last stored ladder published at the time `at` or earlier, in microseconds since 1970."""
    ladder, season = named(ladder_id, game)
    until = select(schema.kept_ladders).where(_LADDERS.ladder == ladder_id, _LADDERS.at <= at)
    row = connection.execute(until.order_by(_LADDERS.at.desc(), _LADDERS.id.desc()).limit(1)).one_or_none()
    if row is None:
        return PastLadder(game, None, None, "", None, (), ladder, season)
    lines, version, bot = schema.kept_standings, schema.versions.c, schema.bots.c
    query = select(lines, version.version, bot.name, bot.owner, bot.house, bot.hidden)
    query = query.select_from(lines.join(schema.versions).join(schema.bots)).where(_KEPT_LINES.ladder_id == row.id)
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
        for line in connection.execute(query.order_by(_KEPT_LINES.rank, _KEPT_LINES.node))
    )
    figures = row.through, row.digest, row.scale_error
    return PastLadder(game, instant(row.at), *figures, tuple(standings), ladder, season)


def _thin(connection: Connection, ladder_id: str, now: int) -> None:
    """Delete old ladders that were followed by another within the same hour or day."""
    gone = list[int]()
    for oldest, newest, length in ((now - DAY - MONTH, now - DAY, HOUR), (0, now - MONTH, DAY)):
        # One pass: searching for the successors of each ladder would take PostgreSQL quadratic time.
        last = func.max(_LADDERS.at).over(partition_by=_LADDERS.at // length)
        end = (newest // length + 1) * length
        of = (_LADDERS.ladder == ladder_id) & (_LADDERS.at >= oldest) & (_LADDERS.at < end)
        each = select(_LADDERS.id, _LADDERS.at, last.label("last")).where(of).subquery().c
        gone += connection.scalars(select(each.id).where(each.at < newest, each.at < each.last))
    if gone:
        connection.execute(delete(schema.kept_standings).where(_KEPT_LINES.ladder_id.in_(gone)))
        connection.execute(delete(schema.kept_ladders).where(_LADDERS.id.in_(gone)))
