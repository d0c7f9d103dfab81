"""Entry to ladders, and the operator's calls to create, list and revoke invitations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

from sqlalchemy import Connection, func, select, union, update

from arena.store import schema
from arena.store.base.errors import (
    EntryRefused,
    InvitationNotAllowed,
    InvitationRefused,
    NoSuchInvitation,
    NothingToChange,
)
from arena.store.base.rows import InvitationRow, instant
from arena.store.bots import bots
from arena.store.bots.bots import Bot

OPEN: Final = "open"
"""Entry rule of a ladder on which every bot may play."""
INVITED: Final = "invited"
"""Entry rule of a ladder on which only bots with an invitation may play."""
MOST_AT_ONCE: Final = 1000
"""Maximum number of invitations created in one transaction."""
_REMEDY: Final = (
    "it is by invitation; ask the server's operator for a code, then use it: `arena-bot join {name} {ladder} CODE`"
)
_LATEST: Final = 253_402_300_799_000_000
"""The last second of the year 9999, in microseconds since 1970."""
_INVITATIONS: Final = schema.invitations.c
_ENTRIES: Final = schema.bot_ladders.c


@dataclass(frozen=True, slots=True)
class NewInvitations:
    """Invitations to create: one for an owner, or several for new owners with the names PREFIX1, PREFIX2, …"""

    owner: str = ""
    prefix: str = ""
    count: int = 0
    """Number of invitations; only with `prefix`."""
    ladder: str = ""
    """The name of the ladder that the invitations open; empty if they are only for registration."""
    expires: int | None = None
    """Time from which the invitations are refused, in microseconds since 1970; None if they do not expire."""


def create(connection: Connection, new: NewInvitations, at: int) -> tuple[tuple[str, str], ...]:
    """Create invitations. Return each owner with the invitation code.

    A number is skipped if an owner with that name already has a bot or an invitation.

    Raises: InvitationNotAllowed, NameNotAllowed, OwnerBanned.
    """
    if bool(new.owner) == bool(new.prefix) or (new.owner and new.count):
        raise InvitationNotAllowed("name one owner, or the beginning of the owners' names and the number of owners")
    if new.prefix and not 1 <= new.count <= MOST_AT_ONCE:
        raise InvitationNotAllowed(f"{new.count} invitations are not made at once; 1 to {MOST_AT_ONCE} are")
    if new.expires is not None and not at < new.expires <= _LATEST:
        raise InvitationNotAllowed("an invitation expires in the future, before the year 10000; choose another time")
    if new.owner:
        return bots.invite_each(connection, (new.owner,), at, new.ladder, new.expires)
    bots.check_name(f"{new.prefix}{new.count}")
    owners = union(select(func.lower(schema.bots.c.owner)), select(func.lower(_INVITATIONS.owner)))
    taken = {*connection.scalars(owners)}
    free = (f"{new.prefix}{number}" for number in count(1) if f"{new.prefix}{number}".lower() not in taken)
    return bots.invite_each(connection, (*islice(free, new.count),), at, new.ladder, new.expires)


def list_invitations(connection: Connection, limit: int | None = None, after: int = 0) -> tuple[InvitationRow, ...]:
    """Return the invitations with numbers above `after`, in order. `limit`: the maximum number of invitations."""
    query = select(_INVITATIONS.number, _INVITATIONS.owner, _INVITATIONS.ladder, _INVITATIONS.created)
    query = query.add_columns(_INVITATIONS.expires, _INVITATIONS.revoked)
    query = query.add_columns(func.coalesce(schema.bots.c.name, "").label("used_by"))
    query = query.select_from(schema.invitations.outerjoin(schema.bots)).where(_INVITATIONS.number > after)
    return tuple(
        InvitationRow(
            number=row.number,
            owner=row.owner,
            ladder=row.ladder,
            created=instant(row.created),
            expires=None if row.expires is None else instant(row.expires),
            revoked=None if row.revoked is None else instant(row.revoked),
            used_by=row.used_by,
        )
        for row in connection.execute(query.order_by(_INVITATIONS.number).limit(limit))
    )


def revoke(connection: Connection, number: int, at: int) -> None:
    """Revoke an unused invitation. Raises: NoSuchInvitation, InvitationRefused, NothingToChange."""
    own = _INVITATIONS.number == number
    row = connection.execute(select(_INVITATIONS.used_by, _INVITATIONS.revoked).where(own)).one_or_none()
    if row is None:
        raise NoSuchInvitation(f"there is no invitation {number}; `arena bots invitations` has their numbers")
    if row.used_by is not None:
        raise InvitationRefused(f"invitation {number} was used already; ban its owner to keep the owner's bots out")
    if row.revoked is not None:
        raise NothingToChange(f"invitation {number}", "revoked")
    connection.execute(update(schema.invitations).where(own).values(revoked=at))


def join(
    connection: Connection, name: str, ladder: str, code: str, at: int, entry: str | Collection[str] = INVITED
) -> Bot:
    """Let a registered bot enter a ladder with an invitation. The invitation's owner does not matter.

    `entry`: as in `may_enter`.

    Raises: UnknownBot, OfTheHouse, BotDeleted, EntryRefused, InvitationRefused, NothingToChange.
    """
    bot = bots.find(connection, name)
    if entry != INVITED:
        may_enter(connection, bot, ladder, entry)
        raise NothingToChange(bot.name, f"free to play on the ladder {ladder}, without an invitation")
    opens = bots.invited(connection, code, at).ladder
    if opens != ladder:
        what = f"the ladder {opens}" if opens else "registration"
        raise InvitationRefused(f"this invitation is for {what}, not for the ladder {ladder}; use it there")
    if _entered(connection, bot, ladder):
        raise NothingToChange(bot.name, f"on the ladder {ladder}")
    bots.use(connection, code, bot.id, at)
    return bot


def may_enter(connection: Connection, bot: Bot, ladder: str, entry: str | Collection[str] = OPEN) -> None:
    """Check that a bot may play on a ladder. `entry`: `OPEN`, `INVITED`, or the owners whose bots may play.

    Raises: EntryRefused.
    """
    if bot.house or entry == OPEN:
        return
    if entry == INVITED:
        if not _entered(connection, bot, ladder):
            raise EntryRefused(bot.name, ladder, _REMEDY.format(name=bot.name, ladder=ladder))
    elif bot.owner.lower() not in {owner.lower() for owner in entry}:
        raise EntryRefused(bot.name, ladder, f"its owner, {bot.owner}, is not listed there")


def _entered(connection: Connection, bot: Bot, ladder: str) -> bool:
    query = select(_ENTRIES.entered).where(_ENTRIES.bot_id == bot.id, _ENTRIES.ladder == ladder)
    return connection.scalar(query) is not None
