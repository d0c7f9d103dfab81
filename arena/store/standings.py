"""Reading the ladder: who stands where, and how a bot came there. What is published comes from the last fit."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, and_, select

from arena.ladder import think
from arena.ladder.events import Node
from arena.ladder.fortune import Fortune
from arena.ladder.ladder import Ladder, Line
from arena.ladder.live import Rating
from arena.store import bots, schema
from arena.store.publishing import as_published


@dataclass(frozen=True, slots=True)
class Standing:
    """One bot on the ladder of one game, as the version it played as last."""

    rank: int
    """1 is the best."""
    rank_low: int
    """The best rank that the ratings' errors allow, with 95 % certainty."""
    rank_high: int
    """The worst."""
    bot: str
    owner: str
    version: str
    house: bool
    rating: float
    """Elo, of the last fit; the live rating where that does not have the bot yet."""
    error: float
    """Standard error of the rating, in Elo: the strength is within 1.96 of it with 95 % certainty."""
    best: float | None
    """The probability that it is the best of all; None where the last fit does not have the bot yet."""
    opponents: int
    """Bots it has met, as of the last fit."""
    provisional: bool
    """Whether too little is known of it yet."""
    live: Rating
    """The rating that moves with every match."""
    last_change: float
    """Elo won or lost in the last match."""
    matches: int
    wins: int
    """Matches won, shared first places included."""
    mean_rank: float
    """Mean relative rank: 0 is always first, 1 always last."""
    forced_share: float | None
    """The part of its decisions that others made for it; None where none is known."""
    think_95: int | None
    """Microseconds that 95 % of its decisions did not take longer than, to within 5 %; None where none is known."""
    luck: Fortune | None = None
    """Its scores, plain and adjusted; None before the first fit with a replayed match of it."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the published ladder of a game is made of."""

    through: int
    """The number of the last event in it."""
    digest: str
    """SHA-256, in hex, over the bits of all figures."""
    at: int
    """When it was published, in microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The live rating of a bot after one match."""

    match: int
    at: int
    """When it ended, in microseconds since 1970."""
    version: str
    before: Rating
    after: Rating
    voided: bool
    """Whether the result counts no more."""


def published(connection: Connection, game: str) -> Published | None:
    """The published ladder of a game; None before the first fit."""
    row = connection.execute(select(schema.ladders).where(schema.ladders.c.game == game)).one_or_none()
    return None if row is None else Published(row.through, row.digest, row.at)


def current(connection: Connection, game: str) -> tuple[tuple[Standing, ...], Published | None]:
    """The ladder of a game and what is published of it."""
    return standings(connection, game), published(connection, game)


def standings(connection: Connection, game: str) -> tuple[Standing, ...]:
    """The ladder of a game: every bot with a match that counts.

    First those of the last fit, best first; below them those whose first match it does not have yet, by live rating.
    """
    ladder = as_published(connection, game)
    rows = _rows(connection, game)
    luck = {fortune.node: fortune for fortune in ladder.fortunes} if ladder else {}
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


def of_ladder(connection: Connection, game: str, ladder: Ladder) -> tuple[Standing, ...]:
    """Another ladder of a game, such as one of some results only: ranks, ratings and numbers of matches are its own."""
    rows = _rows(connection, game)
    known = [line for line in ladder.lines if line.node in rows]
    return tuple(replace(_fitted(rows[line.node], line), matches=line.matches) for line in known)


def history(connection: Connection, bot: str, game: str, limit: int = 1000) -> tuple[Moment, ...]:
    """The last so many rated matches of a bot in a game, in the order they were rated. UnknownBot."""
    bot_id = bots.known(connection, bot).id
    seats, result, void = schema.match_seats, schema.events.alias("result"), schema.events.alias("void")
    rows = connection.execute(
        select(result.c.match_id, result.c.at, schema.versions.c.version, seats, void.c.number.label("void"))
        .select_from(result)
        .join(seats, seats.c.match_id == result.c.match_id)
        .join(schema.versions, schema.versions.c.id == seats.c.node)
        .outerjoin(void, and_(void.c.match_id == result.c.match_id, void.c.kind == "void"))
        .where(result.c.kind == "result", result.c.game == game, seats.c.bot_id == bot_id)
        .group_by(result.c.number)  # all seats of a bot have the same ratings
        .order_by(result.c.number.desc())
        .limit(limit)
    ).all()
    return tuple(
        Moment(
            match=row.match_id,
            at=row.at,
            version=row.version,
            before=Rating(row.rating_before, row.deviation_before),
            after=Rating(row.rating_after, row.deviation_after),
            voided=row.void is not None,
        )
        for row in reversed(rows)
    )


def _rows(connection: Connection, game: str) -> dict[Node, Row[Any]]:
    """What is known of every version that has a match in a game, by node."""
    rating, version, bot = schema.ratings, schema.versions.c, schema.bots.c
    query = select(rating, version.version, bot.name, bot.owner, bot.house)
    query = query.select_from(rating.join(schema.versions).join(schema.bots))
    rows = connection.execute(query.where(rating.c.game == game, rating.c.matches > 0).order_by(rating.c.node))
    return {row.node: row for row in rows}


def _fitted(row: Row[Any], line: Line) -> Standing:
    return Standing(
        rank=line.rank,
        rank_low=line.rank_low,
        rank_high=line.rank_high,
        rating=line.rating,
        error=line.error,
        best=line.best,
        opponents=line.opponents,
        provisional=line.provisional,
        **_figures(row),
    )


def _unfitted(row: Row[Any], rank: int, last: int) -> Standing:
    return Standing(
        rank=rank,
        rank_low=1,
        rank_high=last,
        rating=row.rating,
        error=row.deviation,
        best=None,
        opponents=0,
        provisional=True,
        **_figures(row),
    )


def _figures(row: Row[Any]) -> dict[str, Any]:
    """What a row says whether its version is in the last fit or not."""
    times = {int(bucket): count for bucket, count in json.loads(row.think).items()}
    return {
        "bot": row.name,
        "owner": row.owner,
        "version": row.version,
        "house": bool(row.house),
        "live": Rating(row.rating, row.deviation),
        "last_change": row.last_change,
        "matches": row.matches,
        "wins": row.wins,
        "mean_rank": row.rank_sum / row.matches,
        "forced_share": row.missed / row.decisions if row.decisions else None,
        "think_95": think.percentile(times, 95),
    }
