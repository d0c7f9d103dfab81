"""Entry to ladders, and the invitations that an operator issues many at a time, lists and revokes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, select, union, update

from arena.store import schema
from arena.store.base.errors import EntryRefused, InvitationRefused, NoSuchInvitation, NothingToChange
from arena.store.bots import bots
from arena.store.bots.bots import Bot

OPEN: Final = "open"
"""The entry of a ladder on which every bot may play."""
INVITED: Final = "invited"
"""The entry of a ladder on which only bots with an invitation may play."""
_INVITATIONS: Final = schema.invitations.c
_ENTRIES: Final = schema.bot_ladders.c


class InvitationRow(NamedTuple):
    """An invitation as it is listed; times are in microseconds since 1970."""

    number: int
    owner: str
    """The owner of the bot that may use it; empty once that bot is deleted."""
    ladder: str
    """The name of the ladder that it opens; empty if it is only for registration."""
    created: int
    expires: int | None
    revoked: int | None
    used_by: str
    """The name of the bot that used it; empty if none has."""


def invite_many(
    connection: Connection, prefix: str, count: int, at: int, ladder: str = "", expires: int | None = None
) -> tuple[tuple[str, str], ...]:
    """Create invitations for as many new owners, PREFIX1, PREFIX2, …; return each owner with the code.

    Numbers of owners that have a bot or an invitation are left out. Raises: NameNotAllowed, OwnerBanned.
    """
    owners = union(select(func.lower(schema.bots.c.owner)), select(func.lower(_INVITATIONS.owner)))
    taken = {*connection.scalars(owners)}
    made: list[tuple[str, str]] = []
    number = 0
    while len(made) < count:
        number += 1
        owner = f"{prefix}{number}"
        if owner.lower() not in taken:
            made.append((owner, bots.invite(connection, owner, at, ladder, expires)))
    return tuple(made)


def list_invitations(connection: Connection, limit: int = 1000, after: int = 0) -> tuple[InvitationRow, ...]:
    """Return the invitations with numbers above `after`, in order, at most `limit`."""
    query = select(_INVITATIONS.number, _INVITATIONS.owner, _INVITATIONS.ladder, _INVITATIONS.created)
    query = query.add_columns(_INVITATIONS.expires, _INVITATIONS.revoked, func.coalesce(schema.bots.c.name, ""))
    query = query.select_from(schema.invitations.outerjoin(schema.bots)).where(_INVITATIONS.number > after)
    rows: Sequence[Any] = connection.execute(query.order_by(_INVITATIONS.number).limit(limit)).all()
    return tuple(InvitationRow(*row) for row in rows)


def revoke(connection: Connection, number: int, at: int) -> None:
    """Revoke an unused invitation. Raises: NoSuchInvitation, InvitationRefused, NothingToChange."""
    own = _INVITATIONS.number == number
    row = connection.execute(select(_INVITATIONS.used_by, _INVITATIONS.revoked).where(own)).one_or_none()
    if row is None:
        raise NoSuchInvitation(number)
    if row.used_by is not None:
        raise InvitationRefused(f"invitation {number} was used already; ban its owner to keep the owner's bots out")
    if row.revoked is not None:
        raise NothingToChange(f"invitation {number}", "revoked")
    connection.execute(update(schema.invitations).where(own).values(revoked=at))


def join(connection: Connection, name: str, ladder: str, code: str, at: int) -> Bot:
    """Let a registered bot enter a ladder with an invitation, whoever it was made for.

    Raises: UnknownBot, OfTheHouse, BotDeleted, InvitationRefused, NothingToChange.
    """
    bot = bots.find(connection, name)
    opens = bots.invited(connection, code, at).ladder
    if opens != ladder:
        what = f"the ladder {opens}" if opens else "registration"
        raise InvitationRefused(f"this invitation is for {what}, not for the ladder {ladder}; use it there")
    if _entered(connection, bot, ladder):
        raise NothingToChange(bot.name, f"on the ladder {ladder}")
    bots.use(connection, code, bot.id, at)
    return bot


def may_enter(connection: Connection, bot: Bot, ladder: str, entry: str | Collection[str] = OPEN) -> None:
    """Check that a bot may play on a ladder. `entry`: `OPEN`, `INVITED`, or the owners whose bots may.

    Raises: EntryRefused.
    """
    if bot.house or entry == OPEN:
        return
    if entry == INVITED:
        if not _entered(connection, bot, ladder):
            raise EntryRefused(bot.name, ladder, "it is by invitation; ask the server's operator for a code")
    elif bot.owner.lower() not in {owner.lower() for owner in entry}:
        raise EntryRefused(bot.name, ladder, f"its owner, {bot.owner}, is not listed there")


def _entered(connection: Connection, bot: Bot, ladder: str) -> bool:
    query = select(_ENTRIES.entered).where(_ENTRIES.bot_id == bot.id, _ENTRIES.ladder == ladder)
    return connection.scalar(query) is not None
