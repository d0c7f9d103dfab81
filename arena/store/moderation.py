"""Moderation: the operator's decisions about bots and owners, each an event in a list that is only added to.

Results are not touched: they count unless they are made void.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, delete, func, insert, select

from arena.store import bots, schema
from arena.store.errors import NothingToChange
from arena.store.events import check_reason
from arena.store.rows import BotEventKind, BotEventRow, instant

_EVENTS: Final = schema.bot_events.c


def ban(connection: Connection, owner: str, reason: str, at: int) -> str:
    """Ban an owner, with or without bots: tokens of his bots are refused, and nobody registers one for him.

    Return why, in words. NameNotAllowed, ReasonNotAllowed, NothingToChange.
    """
    bots.check_name(owner)
    if bots.why_banned(connection, owner):
        raise NothingToChange(owner, "banned")
    connection.execute(insert(schema.bans).values(key=owner.lower(), reason=reason))
    _add(connection, BotEventKind.BANNED, owner, reason, at)
    return bots.why_banned(connection, owner)


def unban(connection: Connection, owner: str, reason: str, at: int) -> None:
    """Let a banned owner's bots in again. ReasonNotAllowed, NothingToChange."""
    if not bots.why_banned(connection, owner):
        raise NothingToChange(owner, "not banned")
    connection.execute(delete(schema.bans).where(schema.bans.c.key == owner.lower()))
    _add(connection, BotEventKind.UNBANNED, owner, reason, at)


def list_events(connection: Connection, limit: int = 50, before: int | None = None) -> tuple[BotEventRow, ...]:
    """Return the newest decisions, newest first; with `before` only those with smaller numbers."""
    query = select(schema.bot_events).order_by(_EVENTS.number.desc()).limit(limit)
    if before is not None:
        query = query.where(_EVENTS.number < before)
    return tuple(
        BotEventRow(row.number, instant(row.at), BotEventKind(row.kind), row.name, row.reason)
        for row in connection.execute(query)
    )


def _add(connection: Connection, kind: BotEventKind, name: str, reason: str, at: int) -> None:
    """Add an event; ReasonNotAllowed for a reason that is neither empty nor allowed."""
    if reason:
        check_reason(reason)
    number = (connection.scalar(select(func.max(_EVENTS.number))) or 0) + 1
    row = {"number": number, "at": at, "kind": kind.value, "name": name, "reason": reason}
    connection.execute(insert(schema.bot_events).values(row))
