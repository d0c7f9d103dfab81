"""Storing, reading and pruning of replays. A pruned replay loses its content but not its digest.

Older programs stored replays in the database. Such replays are moved into files, a few in each transaction. After an
interruption, each replay is either in its row or in a file, and the next start continues.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Final, TypeAlias

from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, update

from arena.log.leaf import LeafKind
from arena.store import schema
from arena.store.base import leaves as log
from arena.store.base.database import disposed
from arena.store.base.directory import database_of
from arena.store.base.errors import DiskFull, ReplayDamaged, ReplayPruned
from arena.store.base.statements import Statement, cache
from arena.store.replays.files import IN_ROW, ReplayFiles, attached, packed

AT_ONCE: Final = 256
"""Number of replays moved in one transaction."""
SPARE: Final = 64 << 20
"""Number of bytes that must be free beyond the replays' size. The database grows a little before it shrinks."""
Progress: TypeAlias = Callable[[int, int], None]
"""Progress callback, called with the number of replays moved so far, and the total number."""
_REPLAYS: Final = schema.replays.c
_SEGMENT: Final = schema.replay_segments.c
_MOVE: Final = Statement(
    update(schema.replays).where(_REPLAYS.match_id == bindparam("of")), "content", "segment", "start", "length"
)
_MATCHES: Final = schema.matches.c
_KEEP: Final = Statement(insert(schema.replays), "match_id", "content", "sha256", "segment", "start", "length")
_COUNT: Final = Statement(
    update(schema.replay_segments)
    .where(_SEGMENT.number == bindparam("of_segment"), _SEGMENT.game == bindparam("of_game"))
    .values(kept=_SEGMENT.kept + bindparam("come"), pruned=_SEGMENT.pruned + bindparam("gone"))
    .values(bytes=_SEGMENT.bytes + bindparam("more"))
    .values(size=case((_SEGMENT.size < bindparam("end"), bindparam("end")), else_=_SEGMENT.size))
)
_FIRST: Final = Statement(insert(schema.replay_segments), "number", "game", "kept", "pruned", "bytes", "size")


def move(connection: Connection, files: ReplayFiles, progress: Progress) -> int:
    """Move replays from their rows into files. Return the number of replays that stay because the disk is too full."""
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
    """Move some replays of matches numbered above `after`, oldest first. Return these matches."""
    query = select(_REPLAYS.match_id, _REPLAYS.content, schema.matches.c.game).join_from(schema.replays, schema.matches)
    rest = query.where(_REPLAYS.segment == IN_ROW, _REPLAYS.match_id > after).order_by(_REPLAYS.match_id).limit(AT_ONCE)
    rows = connection.execute(rest).all()
    for match_id, content, game in rows:
        segment, start = files.add(connection, content)
        place = {"segment": segment, "start": start, "length": len(content)}
        _MOVE.run(connection, {"of": match_id, "content": b"", **place})
        count(connection, IN_ROW, game, -1, -len(content))
        count(connection, segment, game, 1, len(content), start + len(content))
    return [row.match_id for row in rows]


def copy_into_rows(connection: Connection, to: Connection) -> None:
    """Copy the replays in files into a database that already has a copy of all rows.

    A replay that is lost is empty there, so its digest shows the loss.
    """
    in_files = select(schema.replays).where(_REPLAYS.segment > IN_ROW).order_by(_REPLAYS.match_id)
    for row in connection.execute(in_files.execution_options(yield_per=AT_ONCE)):
        found = b""
        with suppress(ReplayDamaged):
            found = packed(connection, row)
        _MOVE.run(to, {"of": row.match_id, "content": found, "segment": IN_ROW, "start": 0, "length": 0})
    sums = (func.sum(each) for each in (_SEGMENT.kept, _SEGMENT.pruned, _SEGMENT.bytes))
    rows = connection.execute(select(_SEGMENT.game, *sums).group_by(_SEGMENT.game)).all()
    to.execute(delete(schema.replay_segments))
    for game, kept, pruned, size in rows:
        count(to, IN_ROW, game, kept, size, pruned=pruned)


def keep(connection: Connection, match_id: int, game: str, content: bytes) -> None:
    """Store a packed replay. Raises: DiskFull, StoreUnusable."""
    row = {"match_id": match_id, "content": content, "sha256": sha256(content).digest()}
    row |= {"segment": IN_ROW, "start": 0, "length": 0}
    if (files := attached(connection)) is not None:
        segment, start = files.add(connection, content)
        row |= {"content": b"", "segment": segment, "start": start, "length": len(content)}
        count(connection, segment, game, 1, len(content), start + len(content))
    else:
        count(connection, IN_ROW, game, 1, len(content))
    _KEEP.write(connection, row)


def count(connection: Connection, segment: int, game: str, come: int, size: int, end: int = 0, pruned: int = 0) -> None:
    """Count replays added to a segment. Negative numbers count removed replays."""
    values = {"of_segment": segment, "of_game": game, "come": come, "gone": pruned, "more": size, "end": end}
    stored: set[tuple[int, str]] = cache(connection).setdefault(_COUNT, set())
    if (segment, game) in stored:  # No row of this table is ever deleted.
        _COUNT.write(connection, values)
    elif not _COUNT.run(connection, values).rowcount:
        values = {"number": segment, "game": game, "kept": come, "pruned": pruned, "bytes": size, "size": end}
        _FIRST.run(connection, values)
    stored.add((segment, game))


def content(connection: Connection, match_id: int) -> bytes | None:
    """Return a packed replay, or None if there is none. Raises: ReplayPruned, ReplayDamaged."""
    row = connection.execute(select(schema.replays).where(_REPLAYS.match_id == match_id)).one_or_none()
    if row is None:
        return None
    if row.segment is None:
        raise ReplayPruned(match_id, row.sha256)
    try:
        found = packed(connection, row)
    except ReplayDamaged:
        if pruned_since(connection, match_id):
            raise ReplayPruned(match_id, row.sha256) from None
        raise
    if sha256(found).digest() != row.sha256:
        raise ReplayDamaged(match_id, "its SHA-256 does not agree")
    return found


def pruned_since(connection: Connection, match_id: int) -> bool:
    """Return whether a replay has been pruned since this transaction began, so that its file may be missing."""
    files = attached(connection)
    if files is None:
        return False
    with disposed(database_of(files.data).reading()) as engine, engine.connect() as other:
        return other.scalar(select(_REPLAYS.segment).where(_REPLAYS.match_id == match_id)) is None


def last_before(connection: Connection, instant: int) -> int:
    """Return the last match up to which every match is running or ended before `instant`; 0 if there is none.

    `instant`: in microseconds since 1970.
    """
    finished = select(func.min(_MATCHES.id)).where(_MATCHES.state == "finished", _MATCHES.ended >= instant)
    first = connection.scalar(finished) or (connection.scalar(select(func.max(_MATCHES.id))) or 0) + 1
    return int(first) - 1


def prune(
    connection: Connection, keep: int, at: int, after: int = 0, limit: int = 100, through: int | None = None
) -> tuple[int, ...]:
    """Prune up to `limit` replays, oldest first, of matches after number `after` that are not among the newest `keep`.

    `at`: now, in microseconds since 1970. `through`: the last match whose replay may be pruned; by default any. Return
    the matches whose replays were pruned. Replays of events always stay, since they prove the results. A segment is
    deleted when none of its replays is left. Replays are pruned nearly in the order in which they were added, so no
    segment needs to be rewritten.
    """
    finished = select(_MATCHES.id).where(_MATCHES.state == "finished").order_by(_MATCHES.id.desc())
    newest = connection.scalar(finished.offset(keep).limit(1))
    if newest is None:
        return ()
    if through is not None:
        newest = min(newest, through)
    whole = (_REPLAYS.match_id > after) & (_REPLAYS.match_id <= newest) & _REPLAYS.segment.is_not(None)
    whole &= _REPLAYS.match_id.not_in(select(schema.event_matches.c.match_id))
    size = case((_REPLAYS.segment == IN_ROW, func.length(_REPLAYS.content)), else_=_REPLAYS.length)
    oldest = select(_REPLAYS.match_id, _REPLAYS.segment, _MATCHES.game, size).where(whole)
    oldest = oldest.join_from(schema.replays, schema.matches).order_by(_REPLAYS.match_id).limit(limit)
    rows = connection.execute(oldest).all()
    if not rows:
        return ()
    found = tuple(row[0] for row in rows)
    # All older replays have already been pruned.
    gone = update(schema.replays).where(whole, _REPLAYS.match_id <= found[-1])
    connection.execute(gone.values(content=b"", segment=None, start=0, length=0))
    replays, sizes = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for _, segment, game, length in rows:
        replays[segment, game] += 1
        sizes[segment, game] += length
    for (segment, game), went in replays.items():
        count(connection, segment, game, -went, -sizes[segment, game], pruned=went)
    _delete_empty(connection, {segment for segment, _ in replays} - {IN_ROW})
    log.append(connection, LeafKind.PRUNE, at, through=found[-1], replays=len(found))
    return found


def _delete_empty(connection: Connection, segments: set[int]) -> None:
    """Delete the given segments that contain no replay, once the transaction is committed."""
    if (files := attached(connection)) is not None:
        for segment in segments:
            if not connection.scalar(select(func.sum(_SEGMENT.kept)).where(_SEGMENT.number == segment)):
                files.delete(connection, segment)
