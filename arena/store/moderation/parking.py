"""Parking: a bot with several troubled matches in a row gets no seats until its author or the operator un-parks it.

A match is troubled for a bot if the bot was suspended in it or replaced by a house bot. Void matches do not count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, literal_column, select, update

from arena.store import schema
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


def count(
    connection: Connection, match_id: int, troubled: Sequence[bool | None], limit: int, at: int
) -> tuple[Bot, ...]:
    """Count a finished match for the parking of its bots; return the bots that are now parked.

    Call this function in the transaction that stores the result. `troubled`: by seat, whether the match was troubled;
    None if it neither counts nor resets the count. A bot is parked after `limit` troubled matches in a row. Any other
    match resets its count. Matches that end while a bot is parked, or that began before it was last un-parked, do not
    count.
    """
    parked = []
    for seat, bot, name, before in _COUNTED.run(connection, {"of_match": match_id}).fetchall():
        if troubled[seat] is None or (not troubled[seat] and before == "[]"):
            continue  # The usual case: nothing to write.
        troubles = [*json.loads(before), match_id] if troubled[seat] else []
        since = at if len(troubles) >= limit else None
        change = update(schema.bots).where(_BOTS.id == bot)
        connection.execute(change.values(troubles=json.dumps(troubles), parked=since))
        if since is not None:
            parked.append(bots.find(connection, name))
    return tuple(parked)


def unpark(connection: Connection, name: str) -> Bot:
    """Un-park a bot: it gets seats again, and earlier matches no longer count.

    Raises: UnknownBot, OfTheHouse, BotDeleted, NotParked.
    """
    bot = bots.find(connection, name)
    if bot.parked is None:
        raise NotParked(bot.name)
    change = update(schema.bots).where(schema.bots.c.id == bot.id)
    connection.execute(change.values(troubles="[]", parked=None, forgiven=matches.newest(connection)))
    return bots.find(connection, name)
