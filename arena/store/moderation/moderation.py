"""Moderation: the operator's decisions about bots and owners, each an event in an append-only list.

These decisions do not affect results, which count unless they are annulled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy import delete as delete_rows

from arena.log.leaf import LeafKind
from arena.store import schema
from arena.store.base import changes
from arena.store.base import leaves as log
from arena.store.base.errors import NameTaken, NothingToChange
from arena.store.base.rows import BotEventKind, BotEventRow, instant
from arena.store.bots import bots
from arena.store.bots.bots import Bot
from arena.store.ladder.events import check_reason

_EVENTS: Final = schema.bot_events.c
LEAVES: Final = {
    BotEventKind.BANNED: LeafKind.BAN,
    BotEventKind.UNBANNED: LeafKind.UNBAN,
    BotEventKind.HIDDEN: LeafKind.HIDE,
    BotEventKind.SHOWN: LeafKind.UNHIDE,
    BotEventKind.DELETED: LeafKind.DELETE,
    BotEventKind.RENAMED: LeafKind.RENAME,
}
"""The kinds of leaves that record the events."""


def ban(connection: Connection, owner: str, reason: str, at: int) -> str:
    """Ban an owner, with or without bots. The server then refuses the owner's tokens and new registrations.

    Return the reason as a sentence. Raises: NameNotAllowed, ReasonNotAllowed, NothingToChange.
    """
    bots.check_name(owner)
    if bots.why_banned(connection, owner):
        raise NothingToChange(owner, "banned")
    connection.execute(insert(schema.bans).values(key=owner.lower(), reason=reason))
    _add(connection, BotEventKind.BANNED, owner, reason, at)
    return bots.why_banned(connection, owner)


def unban(connection: Connection, owner: str, reason: str, at: int) -> None:
    """Let a banned owner's bots connect again. Raises: ReasonNotAllowed, NothingToChange."""
    if not bots.why_banned(connection, owner):
        raise NothingToChange(owner, "not banned")
    connection.execute(delete_rows(schema.bans).where(schema.bans.c.key == owner.lower()))
    _add(connection, BotEventKind.UNBANNED, owner, reason, at)


def hide(connection: Connection, name: str, reason: str, at: int) -> Bot:
    """Hide a bot from the list of bots.

    Raises: UnknownBot, OfTheHouse, BotDeleted, ReasonNotAllowed, NothingToChange.
    """
    bot = bots.find(connection, name)
    if bot.hidden:
        raise NothingToChange(bot.name, "hidden")
    _change(connection, bot, hidden=at)
    _add(connection, BotEventKind.HIDDEN, bot.name, reason, at)
    return bot


def show(connection: Connection, name: str, reason: str, at: int) -> Bot:
    """List a hidden bot again. Raises: UnknownBot, OfTheHouse, BotDeleted, ReasonNotAllowed, NothingToChange."""
    bot = bots.find(connection, name)
    if not bot.hidden:
        raise NothingToChange(bot.name, "not hidden")
    _change(connection, bot, hidden=None)
    _add(connection, BotEventKind.SHOWN, bot.name, reason, at)
    return bot


def delete(connection: Connection, name: str, reason: str, at: int) -> Bot:
    """Delete a bot: erase its token and its owner. Its results stay under its name, which no other bot can get.

    Return the bot's row as it was before. Raises: UnknownBot, OfTheHouse, BotDeleted, ReasonNotAllowed.
    """
    bot = bots.find(connection, name)
    _change(connection, bot, token_hash=None, owner="", deleted=at)
    used = schema.invitations.c.used_by == bot.id
    connection.execute(update(schema.invitations).where(used).values(owner=""))
    _add(connection, BotEventKind.DELETED, bot.name, reason, at)
    return bot


def rename(connection: Connection, name: str, new_name: str, reason: str, at: int) -> Bot:
    """Rename a bot, also in its past results. No other bot can ever get the old name.

    Return the bot's new row.

    Raises: UnknownBot, OfTheHouse, BotDeleted, NameNotAllowed, NameTaken, ReasonNotAllowed, NothingToChange.
    """
    bots.check_name(new_name)
    bots.check_free(new_name)
    bot, taken_by = bots.find(connection, name), bots.holder(connection, new_name)
    if bot.name == new_name:
        raise NothingToChange(bot.name, "its name")
    if taken_by is None:
        connection.execute(insert(schema.names).values(key=new_name.lower(), bot_id=bot.id))
    elif taken_by.id != bot.id:
        raise NameTaken(new_name, taken_by.name)
    _change(connection, bot, name=new_name, key=new_name.lower())
    _add(connection, BotEventKind.RENAMED, bot.name, reason, at, new_name)
    return replace(bot, name=new_name)


def list_events(connection: Connection, limit: int = 50, before: int | None = None) -> tuple[BotEventRow, ...]:
    """Return the newest decisions, newest first. With `before`, only decisions with smaller numbers."""
    query = select(schema.bot_events).order_by(_EVENTS.number.desc()).limit(limit)
    if before is not None:
        query = query.where(_EVENTS.number < before)
    return tuple(
        BotEventRow(row.number, instant(row.at), BotEventKind(row.kind), row.name, row.new_name, row.reason)
        for row in connection.execute(query)
    )


def _change(connection: Connection, bot: Bot, **columns: object) -> None:
    connection.execute(update(schema.bots).where(schema.bots.c.id == bot.id).values(columns))
    changes.note(connection, changes.BOT, bot.id)


def _add(
    connection: Connection, kind: BotEventKind, name: str, reason: str, at: int, new_name: str | None = None
) -> None:
    """Add an event. Raises: ReasonNotAllowed: The reason is neither empty nor allowed."""
    if reason:
        check_reason(reason)
    number = (connection.scalar(select(func.max(_EVENTS.number))) or 0) + 1
    row = {"number": number, "at": at, "kind": kind.value, "name": name, "new_name": new_name, "reason": reason}
    connection.execute(insert(schema.bot_events).values(row))
    renamed = {} if new_name is None else {"new_name": new_name}
    log.append(connection, LEAVES[kind], at, name=name, **renamed, reason=reason)
    if kind in {BotEventKind.BANNED, BotEventKind.UNBANNED}:
        changes.note(connection, changes.OWNER, name.lower())
