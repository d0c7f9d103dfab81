"""Pruning of replays: the oldest lose their content, and keep their digest; results are never touched."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, func, select, update

from arena.log.leaf import LeafKind
from arena.store import log, schema

_REPLAYS: Final = schema.replays.c
_MATCHES: Final = schema.matches.c


def prune(connection: Connection, keep: int, at: int, after: int = 0, limit: int = 100) -> tuple[int, ...]:
    """Prune replays of matches above `after` that are not among the newest `keep`, at most `limit`, oldest first.

    `at` is now, in microseconds since 1970. Return the matches whose replays were pruned. The
    file does not become smaller: new replays take the room.
    """
    finished = select(_MATCHES.id).where(_MATCHES.state == "finished").order_by(_MATCHES.id.desc())
    newest = connection.scalar(finished.offset(keep).limit(1))
    if newest is None:
        return ()
    whole = (_REPLAYS.match_id > after) & (_REPLAYS.match_id <= newest) & (func.length(_REPLAYS.content) > 0)
    oldest = select(_REPLAYS.match_id).where(whole).order_by(_REPLAYS.match_id).limit(limit)
    found = tuple(connection.scalars(oldest))
    if found:
        # Every older one is pruned already.
        connection.execute(update(schema.replays).where(whole, _REPLAYS.match_id <= found[-1]).values(content=b""))
        log.append(connection, LeafKind.PRUNE, at, through=found[-1], replays=len(found))
    return found
