"""Parking: a bot that had trouble in several consecutive matches gets no seats until its author or the operator
resumes it.

A match is trouble for a bot if the bot was suspended in it or replaced by a house bot. Annulled matches do not count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, and_, bindparam, func, literal_column, select, update

from arena.store import schema
from arena.store.base import changes
from arena.store.base.errors import NotParked
from arena.store.base.statements import Statement
from arena.store.bots import bots
from arena.store.bots.bots import Bot
from arena.store.matches import matches

_BOTS: Final = schema.bots.c
_SEATS: Final = schema.match_seats.c
_COUNTED: Final = Statement(
    select(_SEATS.seat, _BOTS.id, _BOTS.name, _BOTS.troubles)
    .select_from(schema.match_seats.join(schema.bots))
    .where(_SEATS.match_id == bindparam("of_match"), _BOTS.forgiven < bindparam("of_match"))
    .where(_BOTS.parked.is_(None), _BOTS.deleted.is_(None), _BOTS.house == literal_column("0"))
    .order_by(_SEATS.seat)
)
_OWN: Final = schema.bot_ladders.c
_COUNTED_ON: Final = Statement(
    select(_SEATS.seat, _BOTS.id, _BOTS.name, func.coalesce(_OWN.troubles, literal_column("'[]'")))
    .select_from(
        schema.match_seats.join(schema.bots).outerjoin(
            schema.bot_ladders, and_(_OWN.bot_id == _BOTS.id, _OWN.ladder == bindparam("of_ladder"))
        )
    )
    .where(_SEATS.match_id == bindparam("of_match"))
    .where(func.coalesce(_OWN.forgiven, literal_column("0")) < bindparam("of_match"))
    .where(_OWN.parked.is_(None), _BOTS.deleted.is_(None), _BOTS.house == literal_column("0"))
    .order_by(_SEATS.seat)
)
"""Like `_COUNTED`, for a ladder that is not its game's default ladder."""


def count(
    connection: Connection, match_id: int, troubled: Sequence[bool | None], limit: int, at: int, ladder: str = ""
) -> tuple[Bot, ...]:
    """Update the trouble counts of a match's bots after the match. Return the bots that are now parked.

    Call this function in the transaction that stores the result. `troubled`: by seat, whether the match was trouble;
    None if it neither counts nor resets the count. A bot is parked after `limit` such matches in a row. Any other match
    resets the count. Matches that end while a bot is parked, or that started before it was last resumed, do not count.
    `ladder`: name of the ladder; empty for the default ladders of all games, which are counted together.
    """
    parked = []
    of_match = {"of_match": match_id}
    cursor = (
        _COUNTED_ON.run(connection, of_match | {"of_ladder": ladder}) if ladder else _COUNTED.run(connection, of_match)
    )
    for seat, bot, name, before in cursor.fetchall():
        if troubled[seat] is None or (not troubled[seat] and before == "[]"):
            continue  # The usual case: nothing to write.
        troubles = [*json.loads(before), match_id] if troubled[seat] else []
        since = at if len(troubles) >= limit else None
        _change(connection, bot, ladder, troubles=json.dumps(troubles), parked=since)
        if since is not None:
            parked.append(find(connection, name, ladder))
    return tuple(parked)


def parked_by(connection: Connection, match_id: int, at: int, ladder: str = "") -> tuple[Bot, ...]:
    """Return the bots that `count` parked with the same arguments in an earlier transaction."""
    names = sorted({bot.name for bot in matches.seated(connection, match_id) if not (bot.house or bot.deleted)})
    return tuple(bot for name in names if (bot := find(connection, name, ladder)).parked == at)


def find(connection: Connection, name: str, ladder: str) -> Bot:
    """Return a bot with its troubles and parking on a ladder. Raises: UnknownBot, OfTheHouse, BotDeleted."""
    bot = bots.find(connection, name)
    if not ladder:
        return bot
    own = select(_OWN.troubles, _OWN.parked, _OWN.forgiven).where(_OWN.bot_id == bot.id, _OWN.ladder == ladder)
    row = connection.execute(own).one_or_none()
    troubles, since, forgiven = ("[]", None, 0) if row is None else row
    return replace(bot, troubles=tuple(json.loads(troubles)), parked=since, forgiven=forgiven)


def parked_on(connection: Connection, ladder: str) -> tuple[Bot, ...]:
    """Return the bots that are parked on a ladder other than a default ladder, with their troubles there."""
    query = select(_BOTS.name).select_from(schema.bot_ladders.join(schema.bots))
    query = query.where(_OWN.ladder == ladder, _OWN.parked.is_not(None), _BOTS.deleted.is_(None))
    return tuple(find(connection, name, ladder) for name in connection.scalars(query.order_by(_BOTS.id)).all())


def unpark(connection: Connection, name: str) -> Bot:
    """Resume a bot on all ladders where it is parked. Earlier matches no longer count there.

    Raises: UnknownBot, OfTheHouse, BotDeleted, NotParked.
    """
    bot = bots.find(connection, name)
    further = select(_OWN.ladder).where(_OWN.bot_id == bot.id, _OWN.parked.is_not(None))
    ladders = [*connection.scalars(further), *([] if bot.parked is None else [""])]
    if not ladders:
        raise NotParked(f"{bot.name} is not parked; it is given seats whenever it is connected and has room")
    for ladder in ladders:
        _change(connection, bot.id, ladder, troubles="[]", parked=None, forgiven=matches.newest(connection))
    return bots.find(connection, name)


def _change(connection: Connection, bot_id: int, ladder: str, **columns: object) -> None:
    if ladder:
        bots.by_ladder(connection, bot_id, ladder, **columns)
    else:
        connection.execute(update(schema.bots).where(_BOTS.id == bot_id).values(columns))
        changes.note(connection, changes.BOT, bot_id)
