"""The interface between the store and its database engine. The rest of the store is SQL that every engine accepts.

Each implementation is a package next to this one; `directory.database_of` chooses one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store.base.errors import StoreError


@contextmanager
def disposed(engine: Engine) -> Iterator[Engine]:
    """Close an engine's open connections when the `with` block ends."""
    try:
        yield engine
    finally:
        engine.dispose()


class Database(Protocol):
    """The database of a data directory. It can be pickled: the writer process opens its own connection.

    The engines accept parameters by name (paramstyle "named" or "pyformat"). They omit parameter values from error
    messages, because errors are logged and the values include seeds and hashes. They refuse to change or delete rows of
    append-only tables (`schema.AppendOnly`).
    """

    @property
    def path(self) -> Path:
        """Location of the database, for error messages. If there is no such file, there is no database."""

    @property
    def migrations(self) -> Path:
        """The directory of the Alembic migrations from `schema.OLDEST` to `schema.REVISION`."""

    def create_tables(self, connection: Connection) -> None:
        """Create the tables of `schema.metadata` in an empty database."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the database while a connection is writing. The file at `path` comes first."""

    def size(self, connection: Connection) -> int | None:
        """Return the size in bytes that a database server reports; None if the database is in `files`."""
        return None

    def empty(self) -> bool:
        """Return true if the database is missing or empty. Does not create or open a file."""

    def writing(self, beside: bool = True) -> Engine:
        """Return an engine that creates the database. Its transactions acquire the write lock when they begin.

        `beside`: true if servers may be waiting for the lock. A database server then ends a transaction that pauses for
        seconds.
        """

    def reading(self) -> Engine:
        """Return a read-only engine. Each transaction sees one committed state, even while a server writes.

        The engine may keep connections open, so dispose of it before the last writer closes.
        """

    def copy(self, connection: Connection, to: Database, progress: Callable[[int, int], None]) -> None:
        """Copy the database, as a transaction of `reading` sees it, to `to`, a database file that does not exist yet.

        `progress` is called now and then with the number of copied parts and the total number. Raises: DiskFull,
        StoreError.
        """

    def compact(self) -> None:
        """Return free space to the file system if most of the database is free. Do nothing if that is currently
        impossible.

        No connection of this process may be open.
        """

    def locked(self, node: int | None = None, identity: str = "") -> AbstractContextManager[int]:
        """Lock the data directory for one server, or for the node with this number on a server with several nodes.

        If the directory does not exist, create it, accessible only to its owner. `identity`: the
        directory's identity, if servers with other directories may use the same database. They must pass theirs, too.

        Yields a file descriptor. The lock is held until every process that has the descriptor open has closed it or
        ended.

        Raises:
            StoreLocked: Another server has the lock.
            StoreUnusable: The path is not a directory or cannot be written.
            ServerUnusable: A server with another data directory uses the database.
        """

    def used_elsewhere(self, connection: Connection) -> bool:
        """Return whether servers with other data directories use the database now."""
        return False

    def named(self, error: Exception) -> Exception:
        """Translate an error of the database (full, damaged, not writable …) to a StoreError with the original as its
        cause.

        Any other error, including a violated constraint, is returned unchanged.
        """
        if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
            return error
        renamed = self.of_driver(error.orig)
        renamed.__cause__ = error
        return renamed

    def of_driver(self, error: BaseException | None) -> StoreError:
        """Translate an error of the database's driver."""
