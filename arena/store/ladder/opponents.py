"""A bot's results against each opponent, from its newest matches. Older matches do not affect the cost."""

from __future__ import annotations

from math import sqrt
from typing import Final

from sqlalchemy import Connection, and_, case, exists, func, select

from arena.store import schema
from arena.store.base.rows import MatchState, OpponentRow
from arena.store.bots import bots

LAST: Final = 1000
"""Maximum number of results of a ladder that are summed up."""
LOOKED_AT: Final = 20_000
"""Number of a bot's newest matches, over all ladders, that are searched for matches of one ladder."""


def opponents(
    connection: Connection, bot: str, ladder_id: str, limit: int = 50, after: int = 0, last: int = LAST
) -> tuple[OpponentRow, ...]:
    """Return a bot's results by opponent, the most frequent opponents first.

    Skip the first `after` opponents and return at most `limit`. Only the bot's `last` newest matches on the ladder are
    used. Raises: UnknownBot.
    """
    number = bots.known(connection, bot).id
    own, other = schema.match_seats.alias("own"), schema.match_seats.alias("other")
    match, void = schema.matches.c, schema.rated_results.c
    played = select(schema.match_seats.c.match_id).where(schema.match_seats.c.bot_id == number).distinct()
    played = played.order_by(schema.match_seats.c.match_id.desc()).limit(LOOKED_AT)
    looked = played.subquery("looked")
    voided = exists().where(void.match_id == match.id, void.kind == "void")
    newest = select(match.id).join_from(looked, schema.matches, match.id == looked.c.match_id)
    newest = newest.where(match.ladder == ladder_id, match.state == MatchState.FINISHED.value, ~voided)
    recent = newest.order_by(match.id.desc()).limit(last).subquery("recent")
    halves = case((own.c.place < other.c.place, 2), (own.c.place == other.c.place, 1), else_=0)
    times, sums = func.count().label("times"), func.sum(halves).label("halves")
    them = schema.bots.c
    query = (
        select(them.name, them.house, them.hidden, them.deleted, times, sums)
        .select_from(recent)
        .join(own, and_(own.c.match_id == recent.c.id, own.c.bot_id == number, own.c.place.is_not(None)))
        .join(other, and_(other.c.match_id == recent.c.id, other.c.bot_id != number, other.c.place.is_not(None)))
        .join(schema.bots, them.id == other.c.bot_id)
        .group_by(them.id)
        .order_by(times.desc(), them.key)
    )
    return tuple(
        OpponentRow(
            row.name,
            bool(row.house),
            row.hidden is not None,
            row.deleted is not None,
            row.times,
            row.halves / 2 / row.times,
            score_error(row.halves / 2, row.times),
        )
        for row in connection.execute(query.limit(limit).offset(after))
    )


def score_error(score: float, matches: int) -> float:
    """Return the standard error of a mean score, as if two more matches had been won and two lost.

    With this correction (Agresti and Coull, 1998) the error after ten wins out of ten is not 0. `score`: the sum of the
    scores.
    """
    share = (score + 2) / (matches + 4)
    return sqrt(share * (1 - share) / (matches + 4))
