"""A data directory with its database in one SQLite file. The module translates SQLite's error codes to the store's
errors.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store.base import lock as locks
from arena.store.base.database import Database, LockHolder
from arena.store.base.errors import DiskFull, StoreBusy, StoreCorrupt, StoreError, StoreUnusable
from arena.store.schema import metadata
from arena.store.sqlite import engine

FILE: Final = "arena.db"
"""Name of the database file in the data directory."""


def named(error: Exception, path: Path) -> Exception:
    """Translate an error of the database at `path`. Any other error, including a violated constraint, is returned
    unchanged.
    """
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return error
    renamed = of_driver(error.orig, path)
    renamed.__cause__ = error
    return renamed


def of_driver(error: BaseException | None, path: Path) -> StoreError:
    """Translate an error of Python's SQLite module."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    reason = str(error)
    # SQLite reports a full disk in this way if there is no space for the index of the write-ahead log.
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return DiskFull(path)
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskFull(path)
        case sqlite3.SQLITE_CANTOPEN if _full(path.parent):
            return DiskFull(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(path, reason)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreUnusable(path, reason)
        case sqlite3.SQLITE_BUSY:
            return StoreBusy(path, engine.BUSY_TIMEOUT)
        case _:
            return StoreError(f"{path}: {reason}")


def _full(directory: Path) -> bool:
    """Return whether a directory's disk has no space for a file. SQLite then reports that it cannot open the
    database.
    """
    with suppress(OSError):
        disk = os.statvfs(directory)
        # Some file systems do not count files.
        return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)
    return False


@dataclass(frozen=True, slots=True)
class SqliteDatabase:
    """The database of a data directory in SQLite."""

    directory: Path

    @property
    def path(self) -> Path:
        return self.directory / FILE

    @property
    def migrations(self) -> Path:
        return Path(__file__).with_name("migrations")

    def create_tables(self, connection: Connection) -> None:
        engine.create_tables(connection, metadata)

    @property
    def files(self) -> tuple[Path, ...]:
        # The database file, its write-ahead log, and the log's index.
        return self.path, self.directory / f"{FILE}-wal", self.directory / f"{FILE}-shm"

    def size(self, connection: Connection) -> int | None:
        return None

    def exists(self) -> bool:
        return self.path.is_file()

    def empty(self) -> bool:
        return not self.path.is_file() or self.path.stat().st_size == 0

    def writing(self, beside: bool = True) -> Engine:
        return engine.writing(self.path)

    def reading(self) -> Engine:
        return engine.reading(self.path)

    def copy(self, connection: Connection, to: Database, progress: Callable[[int, int], None]) -> None:
        # Use SQLite's online backup, which neither waits for a server nor delays it.
        try:
            engine.copy(connection, to.path, progress)
        except sqlite3.Error as error:
            raise of_driver(error, to.path) from error

    def compact(self) -> None:
        engine.compact(self.path)

    def locked(self, node: int | None = None, identity: str = "") -> AbstractContextManager[int]:
        return locks.locked(self.directory, node)

    def used_elsewhere(self, connection: Connection) -> bool:
        return False

    def announce(self, lock: int, socket: Path) -> None:
        locks.announce(self.directory, lock, socket)

    def holder(self) -> LockHolder | None:
        return locks.holder(self.directory)

    def named(self, error: Exception) -> Exception:
        return named(error, self.path)
