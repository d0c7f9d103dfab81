"""Paces and balances of bots, stored so that the next server need not measure them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select

from arena.store import schema
from arena.store.base import changes
from arena.store.base.statements import Statement

_PACES: Final = schema.paces.c
_FORGET: Final = Statement(
    delete(schema.paces).where(_PACES.bot_id == bindparam("of_bot"), _PACES.ladder == bindparam("of_ladder"))
)
_KEEP: Final = Statement(insert(schema.paces), "bot_id", "ladder", "pace", "at", "balance")


class KeptPace(NamedTuple):
    """The pace and balance of one bot."""

    bot_id: int
    pace: float
    """Mean number of seconds for which the bot owes a decision in a match, measured at the time `at`."""
    at: int
    """Time of the measurement, in microseconds since 1970."""
    balance: float
    """Number of seconds for which the bot may wait for much slower bots, minus the cost of its current matches."""


def keep(connection: Connection, paces: Sequence[tuple[int, float, int, float]], ladder: str = "") -> None:
    """Store bots' paces on the ladder with this name, replacing those already stored for these bots.

    The default ladders of the games share one pace per bot, stored under an empty name.
    """
    for bot_id, pace, at, balance in paces:
        _FORGET.run(connection, {"of_bot": bot_id, "of_ladder": ladder})
        _KEEP.run(connection, {"bot_id": bot_id, "ladder": ladder, "pace": pace, "at": at, "balance": balance})
    changes.note(connection, changes.PACES, ladder)


def kept(connection: Connection, ladder: str = "") -> tuple[KeptPace, ...]:
    """Return the paces of all bots on the ladder with this name."""
    query = select(_PACES.bot_id, _PACES.pace, _PACES.at, _PACES.balance).where(_PACES.ladder == ladder)
    return tuple(KeptPace(*row) for row in connection.execute(query))
