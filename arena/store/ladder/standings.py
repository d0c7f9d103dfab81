"""Queries of the ladder: standings, based on the last published fit, and the rating history of a bot."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from arena.ladder import think_times
from arena.ladder.events import Node
from arena.ladder.ladder import FieldFigures, FlagKind, Ladder, LadderLine, established, provisional
from arena.ladder.version_gains import MIN_ERROR
from arena.store import schema
from arena.store.base.rows import FlagRow, LadderRow, LadderRows, LuckRow, RatedRow, instant
from arena.store.bots import bots
from arena.store.ladder.publishing import as_published
from arena.store.ladder.seasons import named


def current(connection: Connection, ladder_id: str, game: str) -> LadderRows:
    """Return the current rows of a game's ladder."""
    ladder, season = named(ladder_id, game)
    row = connection.execute(select(schema.ladders).where(schema.ladders.c.ladder == ladder_id)).one_or_none()
    return LadderRows(
        game=game,
        ladder=ladder,
        season=season,
        seats=0,
        standings=standings(connection, ladder_id),
        through=None if row is None else row.through,
        digest="" if row is None else row.digest,
        published=None if row is None else instant(row.at),
        scale_error=None if row is None else row.scale_error,
        flags=standing_out(connection, ladder_id),
        pair_quota=0 if row is None else row.pair_quota,
        pair_week_quota=0 if row is None else row.pair_week_quota,
        pair_young_days=0 if row is None else row.pair_young_days,
    )


def standings(connection: Connection, ladder_id: str) -> tuple[LadderRow, ...]:
    """Return a row for every bot with a match that counts on a ladder, best first.

    Between fits, the published rating changes with the live rating, reduced by the fit's shrinkage. If the fit lacks a
    bot, its live rating is shrunk towards the same average. Before the first fit, live ratings are shown unchanged.
    """
    ladder, rows = as_published(connection, ladder_id), _rows(connection, ladder_id)
    luck = {luck.node: LuckRow(*luck[1:]) for luck in ladder.luck} if ladder else {}
    lines = [line for line in (ladder.lines if ladder else ()) if line.node in rows and line.matches]
    names = {rows[line.node].name for line in lines}
    newest = {row.name: row for row in rows.values() if row.name not in names}
    field = ladder.field if ladder and lines else None
    fitted = [_moved(row, luck.get(node)) for node, row in _fitted(rows, lines).items()]
    return _ranked(fitted, [_unfitted(row, field) for row in newest.values()])


def of_tables(connection: Connection, ladder_id: str, game: str, seats: int, ladder: Ladder) -> LadderRows:
    """Return the rows of a ladder that was computed from tables of one size.

    `ladder` supplies ranks, ratings and match counts.
    """
    name, season = named(ladder_id, game)
    rows = _rows(connection, ladder_id)
    known = [line for line in ladder.lines if line.node in rows]
    shown = _fitted(rows, known)
    return LadderRows(
        game=game,
        ladder=name,
        season=season,
        seats=seats,
        standings=tuple(replace(shown[line.node], matches=line.matches) for line in known),
        through=ladder.through,
        digest=ladder.digest,
        published=None,
        scale_error=ladder.field.scale_error,
        pair_quota=ladder.quota.day,
        pair_week_quota=ladder.quota.week,
        pair_young_days=ladder.quota.young_days,
    )


def history(
    connection: Connection, bot: str, ladder_id: str, limit: int = 1000, before: int | None = None
) -> tuple[RatedRow, ...]:
    """Return the last `limit` rated matches of a bot on a ladder, in the order in which they were rated.

    With `before`, only matches with smaller numbers. Raises: UnknownBot.
    """
    seats, result, void = schema.match_seats, schema.rated_results.alias("result"), schema.rated_results.alias("void")
    # This query uses the index of the bot's own seats. So its cost depends on the page and not on the length of the
    # history. All seats of a bot in a match have the same ratings, so the first seat is enough. A match has one result.
    first, at, number = func.min(seats.c.seat), func.min(result.c.at), func.min(result.c.number)
    own = select(seats.c.match_id, first.label("seat"), at.label("at"), number.label("number"))
    own = own.join(result, and_(result.c.match_id == seats.c.match_id, result.c.kind == "result"))
    own = own.where(seats.c.bot_id == bots.known(connection, bot).id, result.c.ladder == ladder_id)
    if before is not None:
        own = own.where(seats.c.match_id < before)
    page = own.group_by(seats.c.match_id).order_by(seats.c.match_id.desc()).limit(limit).subquery("page")
    rated = seats.c.rating_before, seats.c.rating_after, seats.c.deviation_after
    rows = connection.execute(
        select(page.c.match_id, page.c.at, schema.versions.c.version, *rated, void.c.number)
        .select_from(page)
        .join(seats, and_(seats.c.match_id == page.c.match_id, seats.c.seat == page.c.seat))
        .join(schema.versions, schema.versions.c.id == seats.c.node)
        .outerjoin(void, and_(void.c.match_id == page.c.match_id, void.c.kind == "void"))
        .order_by(page.c.number)
    )
    return tuple(
        RatedRow(match_id, instant(at), version, before, after, deviation, voided is not None)
        for match_id, at, version, before, after, deviation, voided in rows
    )


def _rows(connection: Connection, ladder_id: str) -> dict[Node, Row[Any]]:
    """Return live rating, totals and bot of every version with a match on a ladder, by node."""
    rating, version, bot = schema.ratings, schema.versions.c, schema.bots.c
    query = select(rating, version.version, bot.name, bot.owner, bot.house, bot.hidden, bot.deleted)
    query = query.select_from(rating.join(schema.versions).join(schema.bots))
    rows = connection.execute(query.where(rating.c.ladder == ladder_id, rating.c.matches > 0).order_by(rating.c.node))
    return {row.node: row for row in rows}


def _fitted(rows: Mapping[Node, Row[Any]], lines: Sequence[LadderLine]) -> dict[Node, LadderRow]:
    """Return the published rows of a fit, by node."""
    settled = [rows[line.node] for line in lines if established(line.error) and rows[line.node].deleted is None]
    owners = Counter(None if row.house else row.owner.lower() for row in settled)
    return {line.node: _line(rows[line.node], line, owners) for line in lines}


def _line(row: Row[Any], line: LadderLine, owners: Counter[str | None]) -> LadderRow:
    """Return the published row of a version.

    `owners`: the number of established bots by owner; None stands for house bots.
    """
    return LadderRow(
        rank=line.rank,
        rank_low=line.rank_low,
        rank_high=line.rank_high,
        rating=line.shrunk,
        deviation=line.shrunk_error,
        fitted=line.rating,
        fitted_deviation=line.error,
        best=line.best,
        opponents=line.opponents,
        provisional=provisional(line.error, line.opponents, _others(row, line, owners)),
        **_figures(row),
    )


def _others(row: Row[Any], line: LadderLine, owners: Counter[str | None]) -> int:
    """Count the established bots that a bot could meet. Bots of one owner never meet, except house bots."""
    if row.house:
        return owners.total() - established(line.error)
    return owners.total() - owners[row.owner.lower()]


def _moved(row: LadderRow, luck: LuckRow | None) -> LadderRow:
    """Change the rating of a row by the change of its live rating since the fit."""
    assert row.fitted is not None
    assert row.fitted_deviation is not None
    kept = min(1.0, (row.deviation / max(MIN_ERROR, row.fitted_deviation)) ** 2)
    return replace(row, rating=row.rating + kept * (row.live - row.fitted), luck=luck)


def _unfitted(row: Row[Any], field: FieldFigures | None) -> LadderRow:
    rating, deviation = row.rating, row.deviation
    if field is not None:
        kept = field.spread**2 / (field.spread**2 + deviation**2)
        rating, deviation = field.centre + kept * (rating - field.centre), sqrt(kept) * deviation
    return LadderRow(
        rank=0,
        rank_low=1,
        rank_high=0,
        rating=rating,
        deviation=deviation,
        fitted=None,
        fitted_deviation=None,
        best=None,
        opponents=0,
        provisional=True,
        **_figures(row),
    )


def _ranked(fitted: Sequence[LadderRow], new: Sequence[LadderRow]) -> tuple[LadderRow, ...]:
    """Rank rows by rating. Rank intervals grow by the number of bots that are not in the fit."""
    ranked: list[LadderRow] = []
    for row in sorted((*fitted, *new), key=lambda row: (-row.rating, row.bot.lower())):
        rank = ranked[-1].rank if ranked and ranked[-1].rating == row.rating else len(ranked) + 1
        worst = row.rank_high + len(new) if row.best is not None else len(fitted) + len(new)
        ranked.append(replace(row, rank=rank, rank_low=min(rank, row.rank_low), rank_high=max(rank, worst)))
    return tuple(ranked)


def _figures(row: Row[Any]) -> dict[str, Any]:
    """Return the fields that do not depend on the last fit."""
    times = {int(bucket): count for bucket, count in json.loads(row.think).items()}
    return {
        "bot": row.name,
        "owner": row.owner if row.hidden is None else "",
        "version": row.version,
        "house": bool(row.house),
        "live": row.rating,
        "live_deviation": row.deviation,
        "last_change": row.last_change,
        "matches": row.matches,
        "wins": row.wins,
        "mean_rank": row.rank_sum / row.matches,
        "mean_points": row.score_sum / row.matches,
        "last_match": None if row.last_at is None else instant(row.last_at),
        "forced_share": row.missed / row.decisions if row.decisions else None,
        "think_95_us": think_times.percentile(times, 95),
        "luck": None,
        "hidden": row.hidden is not None,
        "deleted": row.deleted is not None,
    }


def standing_out(connection: Connection, ladder_id: str) -> tuple[FlagRow, ...]:
    """Return the flags of the last fit, the most certain first, without the owners of hidden and deleted bots."""
    flag, bot, other = schema.flags.c, schema.bots.alias("bot"), schema.bots.alias("other")
    own, its = schema.versions.alias("own"), schema.versions.alias("its")
    joined = schema.flags.join(own, own.c.id == flag.node).join(bot, bot.c.id == own.c.bot_id)
    joined = joined.outerjoin(its, its.c.id == flag.other).outerjoin(other, other.c.id == its.c.bot_id)
    query = select(flag.kind, flag.matches, flag.size, flag.errors, own.c.version, bot.c.name, bot.c.owner)
    query = query.add_columns(bot.c.hidden, other.c.name.label("other"), other.c.owner.label("other_owner"))
    query = query.add_columns(other.c.hidden.label("other_hidden")).select_from(joined)
    rows = connection.execute(query.where(flag.ladder == ladder_id).order_by(flag.number))
    return tuple(
        FlagRow(
            kind=FlagKind(row.kind),
            bot=row.name,
            version=row.version if row.kind == FlagKind.CHANGE.value else "",
            owner=row.owner if row.hidden is None else "",
            other=row.other or "",
            other_owner=(row.other_owner or "") if row.other_hidden is None else "",
            matches=row.matches,
            size=row.size,
            errors=row.errors,
        )
        for row in rows
    )
