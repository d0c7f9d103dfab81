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
from arena.store.schema import metadata
from arena.store.sqlite import engine, errors, tables
from arena.store.sqlite import lock as locks

FILE: Final = "arena.db"
"""Name of the database file in the data directory."""


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
        tables.create_tables(connection, metadata)

    @property
    def files(self) -> tuple[Path, ...]:
        # The file, its write-ahead log and its index.
        return self.path, self.directory / f"{FILE}-wal", self.directory / f"{FILE}-shm"

    def exists(self) -> bool:
        return self.path.is_file()

    def empty(self) -> bool:
        return not self.path.is_file() or self.path.stat().st_size == 0

    def writing(self) -> Engine:
        return engine.writing(self.path)

    def reading(self) -> Engine:
        return engine.reading(self.path)

    def copy(self, connection: Connection, directory: Path, progress: Callable[[int, int], None]) -> SqliteDatabase:
        # Use SQLite's online backup, which neither waits for a server nor delays it.
        copied = SqliteDatabase(directory)
        try:
            engine.copy(connection, copied.path, progress)
        except sqlite3.Error as error:
            raise errors.of_driver(error, copied.path) from error
        return copied

    def compact(self) -> None:
        engine.compact(self.path)

    def locked(self) -> AbstractContextManager[int]:
        return locks.locked(self.directory)

    def announce(self, lock: int, socket: Path) -> None:
        locks.announce(self.directory, lock, socket)

    def holder(self) -> LockHolder | None:
        return locks.holder(self.directory)

    def named(self, error: Exception) -> Exception:
        return errors.named(error, self.path)
