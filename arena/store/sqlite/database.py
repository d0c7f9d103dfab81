"""A data directory with its database in one SQLite file. SQLite's error codes become the store's errors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine

from arena.store.base import lock as locks
from arena.store.base.database import Database
from arena.store.base.errors import DiskFull, StoreBusy, StoreCorrupt, StoreError, StoreUnusable
from arena.store.schema import metadata
from arena.store.sqlite import engine

FILE: Final = "arena.db"
"""Name of the database file in the data directory."""


def _full(directory: Path) -> bool:
    """Return whether a disk has no space for a file. SQLite then reports that it cannot open the database."""
    with suppress(OSError):
        disk = os.statvfs(directory)
        # Some file systems do not count files.
        return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)
    return False


@dataclass(frozen=True, slots=True)
class SqliteDatabase(Database):
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
            raise to.of_driver(error) from error

    def compact(self) -> None:
        engine.compact(self.path)

    def locked(self, node: int | None = None, identity: str = "") -> AbstractContextManager[int]:
        return locks.locked(self.directory, node)

    def of_driver(self, error: BaseException | None) -> StoreError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        reason = str(error)
        # SQLite reports a full disk in this way if there is no space for the index of the write-ahead log.
        if code == sqlite3.SQLITE_IOERR_SHMSIZE:
            return DiskFull(self.path)
        match code & 0xFF:
            case sqlite3.SQLITE_FULL:
                return DiskFull(self.path)
            case sqlite3.SQLITE_CANTOPEN if _full(self.path.parent):
                return DiskFull(self.path)
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
                return StoreCorrupt(self.path, reason)
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
                return StoreUnusable(self.path, reason)
            case sqlite3.SQLITE_BUSY:
                return StoreBusy(self.path, engine.BUSY_TIMEOUT)
            case _:
                return StoreError(f"{self.path}: {reason}")
