"""Changes that the nodes of one store learn from each other. A server without other nodes ignores them."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from arena.store import schema
from arena.store.base.statements import Statement

BOT: Final = "bot"
"""A bot's name, token, visibility, entry to ladders or parking changed; the subject is its number."""
OWNER: Final = "owner"
"""An owner was banned or unbanned; the subject is the owner in lower case."""
LADDER: Final = "ladder"
"""A ladder was published; the subject is its id."""
SEASON: Final = "season"
"""A season started; the subject is the ladder's name."""
PACES: Final = "paces"
"""Paces were stored; the subject is the ladder's name, empty for the default ladders."""
EVENT: Final = "event"
"""An event changed; the subject is its name."""
_CHANGES: Final = schema.changes.c
_NEXT: Final = func.coalesce(select(func.max(_CHANGES.number)).scalar_subquery(), literal_column("0"))
NEWEST_CHANGE: Final = Statement(select(_NEXT))
_AGAIN: Final = Statement(
    update(schema.changes)
    .where(_CHANGES.kind == bindparam("of_kind"), _CHANGES.subject == bindparam("of_subject"))
    .values(number=_NEXT + literal_column("1"))
)
_FIRST: Final = Statement(insert(schema.changes), "kind", "subject", "number")


class Change(NamedTuple):
    """A change to a subject, which nodes then read again."""

    kind: str
    subject: str


def note(connection: Connection, kind: str, subject: str | int) -> None:
    """Record that a subject changed. Other nodes see it after the transaction. The caller must hold the write lock."""
    if not _AGAIN.run(connection, {"of_kind": kind, "of_subject": str(subject)}).rowcount:
        (newest,) = NEWEST_CHANGE.run(connection, {}).fetchone() or (0,)
        _FIRST.run(connection, {"kind": kind, "subject": str(subject), "number": int(newest) + 1})
