"""SQLAlchemy engines for SQLite: settings, transactions and creation of tables.

Tables are strict, and triggers protect append-only tables.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, MetaData, NullPool, Pool, QueuePool, Table, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.base import SQLiteTypeCompiler
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.ext.compiler import compiles

from arena.store.base.errors import file_errors
from arena.store.base.statements import DatabaseClock, forget_on_rollback
from arena.store.schema import APPEND_ONLY, AppendOnly

BUSY_TIMEOUT: Final = 10.0
"""Maximum number of seconds to wait for another process's lock."""
_POLLED: Final = 8
"""Milliseconds for which one attempt waits for the write lock.

SQLite's own pauses grow to 100 ms. The process with the longest pause is overtaken again and again by writers that have
just committed. Some waited for more than 10 s.
"""
_WORTH_COMPACTING: Final = 32 << 20
"""Minimum number of free bytes at which a database is rewritten."""
_PAGES: Final = ("freelist_count", "page_count", "page_size")
_COPIED: Final = 256
"""Number of pages that a copy reads in one step."""


class _StrictTypes(SQLiteTypeCompiler):
    """Names of column types in STRICT tables, which allow only INTEGER (64 bits), REAL (a double), TEXT and BLOB."""

    def visit_BIGINT(self, type_: Any, **_: Any) -> str:  # noqa: N802 - SQLAlchemy's name
        """Return the type of a BigInteger."""
        return "INTEGER"

    def visit_DOUBLE(self, type_: Any, **_: Any) -> str:  # noqa: N802
        """Return the type of a Double."""
        return "REAL"


class StrictDialect(SQLiteDialect_pysqlite):
    """SQLite with the column types of strict tables and with named parameters."""

    type_compiler_cls = _StrictTypes
    supports_statement_cache = True

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"paramstyle": "named"} | settings)


@compiles(DatabaseClock, "sqlite")
def _clock(element: DatabaseClock, compiler: Any, **_: Any) -> str:
    # The Julian day of the Unix epoch is 2440587.5.
    return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


registry.register("sqlite.strict", __name__, StrictDialect.__name__)


def writing(path: Path) -> Engine:
    """Return an engine that creates the database. Its transactions acquire the write lock when they begin.

    Only the user of this process can open the database. SQLite gives its auxiliary files the same mode.
    """
    settings = (
        *("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"),
        # This must come last, because only attempts to acquire the write lock are repeated.
        f"PRAGMA busy_timeout = {_POLLED}",
    )

    def connect() -> sqlite3.Connection:
        # Only create the file: closing a file that a connection of this process has open would release its locks.
        with file_errors(path), suppress(FileExistsError):
            path.touch(mode=0o600, exist_ok=False)
        return _connect(path, "rwc", settings)

    return _engine(connect, _begin_writing, NullPool)


def reading(path: Path) -> Engine:
    """Return a read-only engine. Each transaction sees one committed state, even while a server writes.

    The connections stay open, because opening one and reading the schema takes longer than most queries. So dispose of
    the engine after use.
    """
    connect = partial(_connect, path, "ro", ("PRAGMA query_only = ON",))
    return _engine(connect, lambda connection: connection.exec_driver_sql("BEGIN"), QueuePool)


def copy(connection: Connection, path: Path, progress: Callable[[int, int], None]) -> None:
    """Copy the state that a read transaction sees to a new file. Raises: sqlite3.Error.

    The transaction preserves the state, so the copy need not be restarted when a server writes in the meantime.
    """
    source = connection.connection.dbapi_connection
    assert isinstance(source, sqlite3.Connection), "the connection is open"
    path.touch(mode=0o600, exist_ok=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as to:
        to.execute("PRAGMA synchronous = OFF")  # The caller syncs the copy.
        source.backup(to, pages=_COPIED, progress=lambda _, left, pages: progress(pages - left, pages), sleep=0)
        # Make it a single file, so that reading the copy creates no other files.
        to.execute("PRAGMA journal_mode = DELETE").fetchall()


def compact(path: Path) -> None:
    """Rewrite a database if most of its pages are free."""
    with closing(_connect(path, "rw", ("PRAGMA synchronous = FULL",))) as raw:
        ((free,), (pages,), (size,)) = (raw.execute(f"PRAGMA {each}").fetchone() for each in _PAGES)
        if free * size >= _WORTH_COMPACTING and 2 * free > pages:
            with suppress(sqlite3.OperationalError):
                raw.execute("VACUUM")


def _connect(path: Path, mode: str, settings: tuple[str, ...]) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    # Without an isolation level the driver starts no transactions. The event listener in `_engine` starts them.
    raw = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        for setting in settings:
            raw.execute(setting).fetchall()
    except BaseException:
        raw.close()
        raise
    return raw


def _begin_writing(connection: Connection) -> None:
    """Begin a transaction with the write lock. Raises: OperationalError: Another process has held it for too long."""
    driver = connection.connection.dbapi_connection
    assert isinstance(driver, sqlite3.Connection), "the connection is open"
    deadline = time.monotonic() + BUSY_TIMEOUT
    while time.monotonic() < deadline:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                break
        else:
            return
    connection.exec_driver_sql("BEGIN IMMEDIATE")  # Raises SQLAlchemy's error.


def _engine(
    connect: Callable[[], sqlite3.Connection], begin: Callable[[Connection], object], pool: type[Pool]
) -> Engine:
    # Hide parameters, because errors are logged and parameters include seeds and hashes.
    engine = create_engine("sqlite+strict://", creator=connect, poolclass=pool, hide_parameters=True)
    event.listen(engine, "begin", begin)
    forget_on_rollback(engine)
    return engine


def create_tables(connection: Connection, metadata: MetaData) -> None:
    """Create the tables in an empty database, with the same SQL text as after all migrations."""
    for table in metadata.sorted_tables:
        table.dialect_options["sqlite"]["strict"] = True
    metadata.create_all(connection)
    for table in metadata.sorted_tables:
        for trigger in _triggers(table):
            connection.exec_driver_sql(trigger)


def _triggers(table: Table) -> Iterator[str]:
    guard: AppendOnly | None = table.info.get(APPEND_ONLY)
    if guard is None:
        return
    name, (number, within) = table.name, guard
    only_added = f"BEGIN SELECT RAISE(ABORT, '{name} are only added'); END"
    yield f"CREATE TRIGGER {name}_stay BEFORE UPDATE ON {name} {only_added}"
    yield f"CREATE TRIGGER {name}_remain BEFORE DELETE ON {name} {only_added}"
    alike = f" WHERE {within} = NEW.{within}" if within else ""
    yield (
        f"CREATE TRIGGER {name}_follow BEFORE INSERT ON {name} WHEN NEW.{number} <>"  # noqa: S608 - the schema's names
        f" (SELECT coalesce(max({number}), 0) + 1 FROM {name}{alike})"
        f" BEGIN SELECT RAISE(ABORT, '{name} are numbered without a gap'); END"
    )
