"""Replays of older programs, which were in the database, moved into files: a few in each transaction.

Whatever ends it, each replay is in its row or in a file, and the next start goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Final, TypeAlias

from sqlalchemy import Connection, bindparam, func, select, update

from arena.store import schema
from arena.store.base.errors import DiskFull
from arena.store.base.statements import Statement
from arena.store.replays.files import IN_ROW, ReplayFiles
from arena.store.replays.replays import count

AT_ONCE: Final = 256
"""Replays moved in one transaction."""
SPARE: Final = 64 << 20
"""Bytes of the disk, besides those of the replays, that must be free: the database grows a little before it shrinks."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then how many of how many are done."""
_ROW: Final = schema.replays.c
_SEGMENT: Final = schema.replay_segments.c
_MOVE: Final = Statement(
    update(schema.replays).where(_ROW.match_id == bindparam("of")), "content", "segment", "start", "length"
)


def move(connection: Connection, files: ReplayFiles, progress: Progress) -> int:
    """Move the replays that are in rows into files; return how many stay there, as the disk has no room for both."""
    with connection.begin():
        kept = select(func.sum(_SEGMENT.kept), func.sum(_SEGMENT.bytes)).where(_SEGMENT.number == IN_ROW)
        whole, size = (value or 0 for value in connection.execute(kept).one())
    if not whole or shutil.disk_usage(files.data).free < size + size // 8 + SPARE:
        return int(whole)
    done = after = 0
    while done < whole:
        try:
            with files.transaction(connection):
                moved = _move_some(connection, files, after)
        except DiskFull:
            break
        if not moved:
            break
        after, done = moved[-1], done + len(moved)
        progress(done, whole)
    return int(whole - done)


def _move_some(connection: Connection, files: ReplayFiles, after: int) -> list[int]:
    """Move some replays of matches above `after`, the oldest first; return these matches."""
    query = select(_ROW.match_id, _ROW.content, schema.matches.c.game).join_from(schema.replays, schema.matches)
    rest = query.where(_ROW.segment == IN_ROW, _ROW.match_id > after).order_by(_ROW.match_id).limit(AT_ONCE)
    rows = connection.execute(rest).all()
    for match_id, content, game in rows:
        segment, start = files.add(connection, content)
        place = {"segment": segment, "start": start, "length": len(content)}
        _MOVE.run(connection, {"of": match_id, "content": b"", **place})
        count(connection, IN_ROW, game, -1, -len(content))
        count(connection, segment, game, 1, len(content), start + len(content))
    return [row.match_id for row in rows]
