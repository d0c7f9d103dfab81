"""The files of the replays, called *segments*: packed replays one after another, in files next to the database.

A row of `replays` names segment, start and length; `replay_segments` counts the contents of each segment. Only the
writer adds replays, and it syncs them before the database commits. So every row refers to bytes that are on the disk
(`transaction`). After a failed transaction or a killed process, some bytes have no row. Such bytes are overwritten, or
removed at the next start (`sweep`). Bytes that a row refers to never change. A segment without replays is deleted, and
its number is not used again.

Several nodes on one directory add to the same segment, one at a time, because adding requires the database's write
lock. So each transaction of a node first reads where the last transaction ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, select

from arena.store import schema
from arena.store.base.directory import OpenFiles, database_of, sync_directory
from arena.store.base.errors import ReplayDamaged, file_error, file_errors
from arena.store.base.statements import REPLAYS_IN_ROWS, Statement
from arena.store.journal.journal import journal_of

IN_ROW: Final = 0
"""The segment number of a replay stored in its row: in an in-memory database, or before an upgrade moves it."""
FULL: Final = 16 << 20
"""Size in bytes at which a segment is full."""
_KEY: Final = "arena_replay_files"
_SEGMENT: Final = schema.replay_segments.c
_NEWEST: Final = Statement(
    select(_SEGMENT.number, func.max(_SEGMENT.size))
    .where(_SEGMENT.number == select(func.max(_SEGMENT.number)).scalar_subquery())
    .group_by(_SEGMENT.number)
)
_sync: Final = getattr(os, "fdatasync", os.fsync)


class Segment(NamedTuple):
    """A file of replays."""

    number: int
    """Number of the segment, from 1."""
    path: Path
    size: int
    """Offset of the end of the last replay with a row, in bytes."""

    @property
    def whole(self) -> bool:
        """True if the file exists and is at least `size` bytes long."""
        return self.path.is_file() and self.path.stat().st_size >= self.size


class ReplayFiles:
    """The replay segments of a data directory, for one connection."""

    def __init__(self, data: Path, shared: bool = False) -> None:
        """`shared`: true if other processes may add replays between two transactions of this connection."""
        self.data: Final = data
        self._shared: Final = shared
        self._at_end = not shared
        self.directory: Final = segments_of(data)
        self._number = 0
        self._file = -1
        self._open_files = OpenFiles(())
        self._end = self._committed = 0
        self._unsynced = self._new = False
        self._emptied: set[int] = set()

    def path(self, number: int) -> Path:
        """Return the path of a segment."""
        return self.directory / f"{number:08}.gz"

    @contextmanager
    def transaction(self, connection: Connection) -> Iterator[None]:
        """Run one transaction, and sync the files before the commit.

        If it fails, no row refers to the bytes that it added.
        """
        self._at_end = not self._shared
        try:
            with connection.begin():
                yield
                self._bring_to_disk()
        except BaseException:
            self._end = self._committed
            self._emptied.clear()
            raise
        self._committed = self._end
        for number in self._emptied:
            with suppress(OSError):  # The next start tries again.
                self.path(number).unlink()
        self._emptied.clear()

    def add(self, connection: Connection, content: bytes) -> tuple[int, int]:
        """Write a packed replay; return its segment's number and its offset. Raises: DiskFull, StoreUnusable."""
        try:
            if self._file < 0 or self._end >= FULL or not self._at_end:
                self._begin(connection)
            start, written = self._end, 0
            try:
                while written < len(content):
                    written += os.pwrite(self._file, content[written:], start + written)
            except OSError:
                with suppress(OSError):  # On a full disk, other programs may need the space.
                    os.ftruncate(self._file, start)
                raise
        except OSError as error:
            raise file_error(self.path(self._number), error) from error
        self._end += written
        self._unsynced = True
        return self._number, start

    def delete(self, connection: Connection, number: int) -> None:
        """Delete a segment once the transaction is committed. The newest segment is never deleted."""
        newest = _NEWEST.run(connection, {}).fetchone() if self._shared else None
        if number != (self._number if newest is None else newest[0]):
            self._emptied.add(number)

    def close(self) -> None:
        """Close the open file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def segments(self, connection: Connection) -> tuple[Segment, ...]:
        """Return the segments that contain at least one replay, oldest first."""
        query = select(_SEGMENT.number, func.max(_SEGMENT.size)).where(_SEGMENT.number > IN_ROW)
        kept = query.group_by(_SEGMENT.number).having(func.sum(_SEGMENT.kept) > 0).order_by(_SEGMENT.number)
        return tuple(Segment(number, self.path(number), size) for number, size in connection.execute(kept))

    def sweep(self, connection: Connection) -> tuple[Segment, ...]:
        """Remove bytes and files that no row refers to. Return the segments that are missing or too short.

        The transaction must hold the write lock, so that nobody adds bytes meanwhile. The newest segment stays, because
        another node may have it open.

        Raises: StoreUnusable.
        """
        segments = {segment.path: segment for segment in self.segments(connection)}
        with file_errors(self.directory):
            self.directory.mkdir(mode=0o700, exist_ok=True)
            newest = self.path((_NEWEST.run(connection, {}).fetchone() or (IN_ROW,))[0])
            for path in self.directory.glob("*.gz"):
                if (segment := segments.get(path)) is None:
                    if path != newest:
                        path.unlink()
                elif path.stat().st_size > segment.size:
                    os.truncate(path, segment.size)
        return tuple(segment for segment in segments.values() if not segment.whole)

    def _begin(self, connection: Connection) -> None:
        """Open the newest segment, or the next one if it is full or incomplete."""
        first = self._file < 0 or self._shared
        self._bring_to_disk()
        stored, size = _NEWEST.run(connection, {}).fetchone() or (IN_ROW, 0)
        if not self._at_end and self._file >= 0 and stored == self._number and size < FULL:
            self._end, self._at_end = size, True
            return
        self.close()
        number = stored if self._shared else max(stored, self._number)
        self._at_end = True
        newest = Segment(number, self.path(number), size)
        go_on = first and number > IN_ROW and size < FULL and newest.whole
        self.directory.mkdir(mode=0o700, exist_ok=True)
        self._number = number if go_on else number + 1
        self._end = self._committed = size if go_on else 0
        self._file = os.open(self.path(self._number), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._open_files = OpenFiles([self.path(self._number)])
        self._new = not go_on

    def _bring_to_disk(self) -> None:
        """Sync the added bytes. Raises: DiskFull, StoreUnusable; StoreReplaced: The file no longer exists."""
        if not self._unsynced:
            return
        self._open_files.check()
        with file_errors(self.path(self._number)):
            _sync(self._file)
            if self._new:
                sync_directory(self.directory)
                sync_directory(self.data)
        self._unsynced = self._new = False


def segments_of(data: Path) -> Path:
    """Return the folder of a data directory's segments."""
    return data / "replays"


def attach(connection: Connection, data: Path, shared: bool = False) -> ReplayFiles:
    """Set the folder that contains the replays of a connection's rows, until the connection is closed.

    `shared`: as in `ReplayFiles`.
    """
    files: ReplayFiles | None = connection.info.get(_KEY)
    if files is None:
        files = connection.info[_KEY] = ReplayFiles(data, shared)
    return files


def attached(connection: Connection) -> ReplayFiles | None:
    """Return the folder set by `attach`, or None for a database with replays in rows, such as one in memory."""
    if connection.get_execution_options().get(REPLAYS_IN_ROWS):
        return None
    files: ReplayFiles | None = connection.info.get(_KEY)
    return files


def packed(connection: Connection, row: Any) -> bytes:
    """Return the packed replay of an unpruned row of `replays`, without checking it. Raises: ReplayDamaged."""
    if row.segment == IN_ROW:
        return bytes(row.content)
    files = attached(connection)
    assert files is not None, "rows name segments only where there are files"
    path = files.path(row.segment)
    try:
        with path.open("rb", buffering=0) as file:
            content = os.pread(file.fileno(), row.length, row.start)
    except FileNotFoundError:
        raise ReplayDamaged(row.match_id, f"{path} is missing") from None
    except OSError as error:
        raise ReplayDamaged(row.match_id, f"{path}: {error.strerror or error}") from error
    if len(content) < row.length:
        raise ReplayDamaged(row.match_id, f"{path} is cut short")
    return content


@dataclass(frozen=True, slots=True)
class ReplayUse:
    """The disk use of one game's replays."""

    game: str
    kept: int
    pruned: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Sizes of a data directory's files and of its replays, in bytes."""

    database: int
    journal: int
    replay_files: int
    """Size of the replay files, including pruned replays in files that still contain others."""
    replays: tuple[ReplayUse, ...]


def disk_use(connection: Connection, directory: Path) -> DiskUse:
    """Return the disk use of a data directory.

    The sizes of replays are running totals, updated whenever a replay is added or removed.
    """
    count = schema.replay_segments.c
    sums = select(count.game, *(func.sum(each) for each in (count.kept, count.pruned, count.bytes)))
    replays = tuple(ReplayUse(*row) for row in connection.execute(sums.group_by(count.game).order_by(count.game)))
    database, journal, files = database_of(directory), journal_of(directory), segments_of(directory)
    size = database.size(connection)
    return DiskUse(
        _size(*database.files) if size is None else size, _size(*journal.glob("*")), _size(*files.glob("*")), replays
    )


def _size(*paths: Path) -> int:
    """Return the total size of the given files. Missing files count as 0."""
    whole = 0
    for path in paths:
        with suppress(FileNotFoundError):
            whole += path.stat().st_size
    return whole
