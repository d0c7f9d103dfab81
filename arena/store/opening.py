"""Access to a data directory for programs other than its server: reading at any time, changes only without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from threading import Lock
from typing import Final, NamedTuple

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from arena.store.base.database import Database, disposed
from arena.store.base.directory import database_of, token_file
from arena.store.base.errors import StoreUnusable, file_errors
from arena.store.base.migrate import require_current
from arena.store.journal.journal import journal_of
from arena.store.log.key import key_file, next_key_file
from arena.store.replays.files import attach, segments_of

_OTHERS: Final = 0o077
"""The bits of a file mode for group and others."""
_ENTER: Final = 0o011
"""The mode bits of a directory that let other users open files in it."""


@contextmanager
def open_readonly(directory: Path) -> Iterator[Connection]:
    """Open one committed state of a data directory for reading, even if a server is using the directory.

    Raises: StoreUnusable, StoreCorrupt, StoreNewer, StoreOlder or StoreTooOld, if it cannot be read.
    """
    database = _existing(directory)
    with disposed(database.reading()) as reader, _current(database, reader) as connection:
        yield connection


class ReadConnections:
    """Thread-safe reader of successive committed states of a data directory. Its connections stay open.

    If the database has been replaced, for example by a restore, the reader opens the new one.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = Lock()
        self._engine: Engine | None = None
        self._opened = (0, 0)

    @contextmanager
    def open(self) -> Iterator[Connection]:
        """Open the newest committed state while the `with` block runs. Raises the errors of `open_readonly`."""
        database = _existing(self._directory)
        with _current(database, self._engine_of(database)) as connection:
            yield connection

    def close(self) -> None:
        """Close the unused connections."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    def _engine_of(self, database: Database) -> Engine:
        with file_errors(database.path):
            found = database.path.stat()
        with self._lock:
            if self._engine is None or self._opened != (found.st_dev, found.st_ino):
                if self._engine is not None:
                    self._engine.dispose()
                self._engine, self._opened = database.reading(), (found.st_dev, found.st_ino)
            return self._engine


@contextmanager
def open_to_amend(directory: Path) -> Iterator[Connection]:
    """Open one write transaction on a data directory.

    No server may use the directory, because only one process may write.

    Raises StoreLocked, DiskFull and the errors of `open_readonly`.
    """
    database = _existing(directory)
    with database.locked(), _current(database, database.writing(beside=False)) as connection:
        yield connection


def _existing(directory: Path) -> Database:
    database = database_of(directory)
    if not database.path.is_file():
        raise StoreUnusable(directory, f"it has no {database.path.name}; a server started on it makes one")
    return database


@contextmanager
def _current(database: Database, engine: Engine) -> Iterator[Connection]:
    """Open one transaction on a database that has this program's schema."""
    with store_errors(database), engine.connect() as connection:
        files = attach(connection, database.path.parent)
        try:
            with files.transaction(connection):
                require_current(connection, database)
                yield connection
        finally:
            files.close()


@contextmanager
def store_errors(database: Database) -> Iterator[None]:
    """Translate errors of the database into the store's errors."""
    try:
        yield
    except DBAPIError as error:
        raise database.named(error)  # noqa: B904 - its cause is set


class ExposedFile(NamedTuple):
    """A file or folder that other users could open before this start."""

    path: Path
    before: int
    """Mode before this start."""
    now: int
    """Mode now. Unchanged if the file system or the file's owner does not permit a change."""


def close_to_others(directory: Path, database: Database) -> tuple[ExposedFile, ...]:
    """Remove other users' access to the files of a data directory. Return the files that they could open."""
    found = []
    for path in (
        *database.files,
        token_file(directory),
        key_file(directory),
        next_key_file(directory),
        journal_of(directory),
        segments_of(directory),
    ):
        with suppress(FileNotFoundError):
            before = S_IMODE(path.stat().st_mode)
            if before & _OTHERS:
                with suppress(OSError):
                    path.chmod(before & ~_OTHERS)
                found.append(ExposedFile(path, before, S_IMODE(path.stat().st_mode)))
    return tuple(found) if S_IMODE(directory.stat().st_mode) & _ENTER else ()
