"""Everything that is SQLite's own: connections, their settings, what its error codes mean. It knows no table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store.errors import DiskFull, StoreCorrupt, StoreError, StoreUnusable

DATABASE: Final = "arena.db"
"""The file in the data directory."""
_BUSY: Final = 10.0
"""Seconds to wait for a lock of another process, which holds one only to open, close or commit."""


def writing(path: Path) -> Engine:
    """An engine whose transactions own the right to write from their beginning; it creates the database."""
    settings = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
    return _engine(lambda: _connect(path, "rwc", settings), "BEGIN IMMEDIATE")


def reading(path: Path) -> Engine:
    """An engine that cannot write; each transaction sees one committed state, also while a server writes."""
    return _engine(lambda: _connect(path, "ro", ("PRAGMA query_only = ON",)), "BEGIN")


def run(connection: Connection, sql: str, values: Mapping[str, object]) -> sqlite3.Cursor:
    """Has the driver run a statement in the connection's transaction, which begins where none is, as all others do."""
    try:
        return _begun(connection).execute(sql, values)
    except sqlite3.Error as error:
        raise _wrapped(error, sql) from error


def run_all(connection: Connection, sql: str, rows: Sequence[Mapping[str, object]]) -> None:
    """The same for each of these values."""
    try:
        _begun(connection).executemany(sql, rows)
    except sqlite3.Error as error:
        raise _wrapped(error, sql) from error


def in_transaction(connection: Connection) -> bool:
    """Whether the transaction still stands: SQLite itself gives up a whole one when the disk is full or fails."""
    return _raw(connection).in_transaction


def savepoint(connection: Connection) -> None:
    """What comes now can be undone alone; SQLAlchemy's own way costs as much as all the statements of a match."""
    run(connection, "SAVEPOINT job", {})


def release(connection: Connection) -> None:
    """What came since the savepoint belongs to the transaction."""
    run(connection, "RELEASE job", {})


def roll_back(connection: Connection) -> None:
    """What came since the savepoint is undone."""
    run(connection, "ROLLBACK TO job", {})
    release(connection)


def abandon(connection: Connection) -> None:
    """Undoes what a failed commit left: SQLite keeps its transaction open, while SQLAlchemy thinks it over."""
    with suppress(sqlite3.Error):  # the next transaction will say what is wrong, to those who wait for it
        _raw(connection).rollback()


def named(error: Exception, path: Path) -> Exception:
    """The store's name for an error of the database; any other, a broken constraint among them, stays what it is."""
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return error
    renamed = _renamed(error, path)
    renamed.__cause__ = error
    return renamed


def _renamed(error: DBAPIError, path: Path) -> StoreError:
    code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    reason = str(error.orig)
    match code:
        case sqlite3.SQLITE_FULL:
            return DiskFull(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(path, reason)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreUnusable(path, reason)
        case _:
            return StoreError(f"{path}: {reason}")


def _begun(connection: Connection) -> sqlite3.Connection:
    if not connection.in_transaction():
        connection.begin()
    return _raw(connection)


def _wrapped(error: sqlite3.Error, sql: str) -> BaseException:
    """The driver's error as SQLAlchemy has it, without the statement's values."""
    return DBAPIError.instance(sql, None, error, sqlite3.Error, hide_parameters=True)


def _raw(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _connect(path: Path, mode: str, settings: tuple[str, ...]) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    # Without an isolation level the driver begins nothing by itself, so that the events below decide.
    raw = sqlite3.connect(uri, uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    try:
        for setting in settings:
            raw.execute(setting).fetchall()
    except BaseException:
        raw.close()
        raise
    return raw


def _engine(connect: Callable[[], sqlite3.Connection], begin: str) -> Engine:
    # Errors without their parameters: those are seeds and hashes, and errors are logged.
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine
