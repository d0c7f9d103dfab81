"""A data directory whose database is one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine

from arena.store.base.database import LockHolder
from arena.store.sqlite import engine, errors
from arena.store.sqlite import lock as locks

FILE: Final = "arena.db"
"""Name of the database file in the data directory."""


@dataclass(frozen=True, slots=True)
class SqliteDatabase:
    """See `Database`."""

    directory: Path

    @property
    def path(self) -> Path:
        """See `Database`."""
        return self.directory / FILE

    @property
    def migrations(self) -> Path:
        """See `Database`."""
        return Path(__file__).with_name("migrations")

    @property
    def files(self) -> tuple[Path, ...]:
        """See `Database`: the file, its write-ahead log and the index of that."""
        return self.path, self.directory / f"{FILE}-wal", self.directory / f"{FILE}-shm"

    def exists(self) -> bool:
        """See `Database`."""
        return self.path.is_file()

    def empty(self) -> bool:
        """See `Database`."""
        return not self.path.is_file() or self.path.stat().st_size == 0

    def writing(self) -> Engine:
        """See `Database`."""
        return engine.writing(self.path)

    def reading(self) -> Engine:
        """See `Database`."""
        return engine.reading(self.path)

    def copy(self, connection: Connection, directory: Path, progress: Callable[[int, int], None]) -> SqliteDatabase:
        """See `Database`: by SQLite's online backup, which neither waits for a server nor keeps one waiting."""
        copied = SqliteDatabase(directory)
        try:
            engine.copy(connection, copied.path, progress)
        except sqlite3.Error as error:
            raise errors.of_driver(error, copied.path) from error
        return copied

    def compact(self) -> None:
        """See `Database`."""
        engine.compact(self.path)

    def locked(self) -> AbstractContextManager[int]:
        """See `Database`."""
        return locks.locked(self.directory)

    def announce(self, lock: int, socket: Path) -> None:
        """See `Database`."""
        locks.announce(self.directory, lock, socket)

    def holder(self) -> LockHolder | None:
        """See `Database`."""
        return locks.holder(self.directory)

    def named(self, error: Exception) -> Exception:
        """See `Database`."""
        return errors.named(error, self.path)
