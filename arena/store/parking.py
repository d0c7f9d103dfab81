"""Parking: a bot in trouble in several matches in a row is given no seats until somebody says that it is mended.

A match is troubled for a bot whose seat was suspended in it or played on by a house bot. Void matches do not count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, literal_column, select, update

from arena.store import bots, matches, schema
from arena.store.bots import Bot
from arena.store.errors import NotParked
from arena.store.prepared import Prepared

_BOTS: Final = schema.bots.c
_SEATS: Final = schema.match_seats.c
_COUNTED: Final = Prepared(
    select(_SEATS.seat, _BOTS.id, _BOTS.name, _BOTS.troubles)
    .select_from(schema.match_seats.join(schema.bots))
    .where(_SEATS.match_id == bindparam("of_match"), _BOTS.forgiven < bindparam("of_match"))
    .where(_BOTS.parked.is_(None), _BOTS.house == literal_column("0"))
    .order_by(_SEATS.seat)
)


def count(connection: Connection, match: int, troubled: Sequence[bool], limit: int, at: int) -> tuple[Bot, ...]:
    """Counts what a finished match says of its bots, by seat; returns those that are parked from now on.

    To be called in the transaction that stores the result. `limit` troubled matches in a row park a bot; any other
    match ends the row. While a bot is parked nothing is counted, nor what began before it was last un-parked.
    """
    parked = []
    for seat, bot, name, before in _COUNTED.run(connection, {"of_match": match}).fetchall():
        if not troubled[seat] and before == "[]":
            continue  # nearly always
        troubles = [*json.loads(before), match] if troubled[seat] else []
        since = at if len(troubles) >= limit else None
        change = update(schema.bots).where(_BOTS.id == bot)
        connection.execute(change.values(troubles=json.dumps(troubles), parked=since))
        if since is not None:
            parked.append(bots.find(connection, name))
    return tuple(parked)


def unpark(connection: Connection, name: str) -> Bot:
    """A bot is given seats again; matches that began before are forgiven. UnknownBot, OfTheHouse, NotParked."""
    bot = bots.find(connection, name)
    if bot.parked is None:
        raise NotParked(bot.name)
    change = update(schema.bots).where(schema.bots.c.id == bot.id)
    connection.execute(change.values(troubles="[]", parked=None, forgiven=matches.newest(connection)))
    return bots.find(connection, name)
