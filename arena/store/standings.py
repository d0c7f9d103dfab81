"""Queries of the ladder: standings, from the last published fit, and the rating history of a bot."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from arena.ladder import think_times
from arena.ladder.events import Node
from arena.ladder.ladder import Ladder, LadderLine
from arena.ladder.luck_columns import LuckFigures
from arena.store import bots, schema
from arena.store.publishing import as_published
from arena.store.rows import LadderRow, LadderRows, LuckRow, RatedRow, instant


def current(connection: Connection, game: str) -> LadderRows:
    """Return the current ladder of a game."""
    row = connection.execute(select(schema.ladders).where(schema.ladders.c.game == game)).one_or_none()
    return LadderRows(
        game=game,
        seats=0,
        standings=standings(connection, game),
        through=None if row is None else row.through,
        digest="" if row is None else row.digest,
        published=None if row is None else instant(row.at),
    )


def standings(connection: Connection, game: str) -> tuple[LadderRow, ...]:
    """Return a row for every bot with a match that counts in a game.

    The bots of the last fit come first, best first; then, by live rating, those that it does not include yet.
    """
    ladder = as_published(connection, game)
    rows = _rows(connection, game)
    luck = {luck.node: _luck(luck) for luck in ladder.luck} if ladder else {}
    lines = [
        replace(_fitted(rows[line.node], line), luck=luck.get(line.node))
        for line in (ladder.lines if ladder else ())
        if line.node in rows
    ]
    known = {line.bot for line in lines}
    newest = {row.name: row for row in rows.values() if row.name not in known}
    new = sorted(newest.values(), key=lambda row: (-row.rating, row.name.lower()))
    fitted, all_of_them = len(lines), len(lines) + len(new)
    for row in new:
        tied = len(lines) > fitted and lines[-1].rating == row.rating
        lines.append(_unfitted(row, lines[-1].rank if tied else len(lines) + 1, all_of_them))
    return tuple(lines)


def of_tables(connection: Connection, game: str, seats: int, ladder: Ladder) -> LadderRows:
    """Return the rows of a ladder fitted to tables of one size; `ladder` gives ranks, ratings and match counts."""
    rows = _rows(connection, game)
    known = [line for line in ladder.lines if line.node in rows]
    return LadderRows(
        game=game,
        seats=seats,
        standings=tuple(replace(_fitted(rows[line.node], line), matches=line.matches) for line in known),
        through=ladder.through,
        digest=ladder.digest,
        published=None,
    )


def history(
    connection: Connection, bot: str, game: str, limit: int = 1000, before: int | None = None
) -> tuple[RatedRow, ...]:
    """Return the last `limit` rated matches of a bot in a game, in the order they were rated. UnknownBot.

    The last are those with the highest numbers; with `before`, of the smaller ones.
    """
    seats, result, void = schema.match_seats, schema.events.alias("result"), schema.events.alias("void")
    # Along the index of the bot's own seats, so that the cost is that of the page, not that of the bot's or the game's
    # history. All seats of a bot have the same ratings: take its first one.
    own = select(seats.c.match_id, func.min(seats.c.seat).label("seat"), result.c.at, result.c.number)
    own = own.join(result, and_(result.c.match_id == seats.c.match_id, result.c.kind == "result"))
    own = own.where(seats.c.bot_id == bots.known(connection, bot).id, result.c.game == game)
    if before is not None:
        own = own.where(seats.c.match_id < before)
    page = own.group_by(seats.c.match_id).order_by(seats.c.match_id.desc()).limit(limit).subquery("page")
    rows = connection.execute(
        select(page.c.at, schema.versions.c.version, seats, void.c.number.label("void"))
        .select_from(page)
        .join(seats, and_(seats.c.match_id == page.c.match_id, seats.c.seat == page.c.seat))
        .join(schema.versions, schema.versions.c.id == seats.c.node)
        .outerjoin(void, and_(void.c.match_id == page.c.match_id, void.c.kind == "void"))
        .order_by(page.c.number)
    ).all()
    return tuple(
        RatedRow(
            match_id=row.match_id,
            ended=instant(row.at),
            version=row.version,
            before=row.rating_before,
            after=row.rating_after,
            deviation=row.deviation_after,
            voided=row.void is not None,
        )
        for row in rows
    )


def _rows(connection: Connection, game: str) -> dict[Node, Row[Any]]:
    """Return live rating, totals and bot of every version with a match in a game, by node."""
    rating, version, bot = schema.ratings, schema.versions.c, schema.bots.c
    query = select(rating, version.version, bot.name, bot.owner, bot.house, bot.hidden, bot.deleted)
    query = query.select_from(rating.join(schema.versions).join(schema.bots))
    rows = connection.execute(query.where(rating.c.game == game, rating.c.matches > 0).order_by(rating.c.node))
    return {row.node: row for row in rows}


def _fitted(row: Row[Any], line: LadderLine) -> LadderRow:
    return LadderRow(
        rank=line.rank,
        rank_low=line.rank_low,
        rank_high=line.rank_high,
        rating=line.rating,
        deviation=line.error,
        best=line.best,
        opponents=line.opponents,
        provisional=line.provisional,
        **_figures(row),
    )


def _unfitted(row: Row[Any], rank: int, last: int) -> LadderRow:
    return LadderRow(
        rank=rank,
        rank_low=1,
        rank_high=last,
        rating=row.rating,
        deviation=row.deviation,
        best=None,
        opponents=0,
        provisional=True,
        **_figures(row),
    )


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
        "forced_share": row.missed / row.decisions if row.decisions else None,
        "think_95_us": think_times.percentile(times, 95),
        "luck": None,
        "hidden": row.hidden is not None,
        "deleted": row.deleted is not None,
    }


def _luck(figures: LuckFigures) -> LuckRow:
    return LuckRow(figures.matches, figures.plain, figures.plain_error, figures.adjusted, figures.adjusted_error)
