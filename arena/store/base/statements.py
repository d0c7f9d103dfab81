"""Precompiled statements for the operations that every match needs. SQLAlchemy's own execution takes ten times as long.

They run on the driver's cursor, in the transaction of the SQLAlchemy connection, and raise SQLAlchemy's errors. They
use only features that Python's database API (PEP 249) requires of every driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from sqlalchemy import BigInteger, Connection, Delete, Dialect, Engine, Insert, Select, Update, event, select
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

REPLAYS_IN_ROWS: Final = "replays_in_rows"
"""Execution option of engines whose database has the replays in its rows, not in files of the data directory."""
SESSION: Final = "session"
"""Execution option. True if the driver's connections queue changes, with the methods of `_Session`."""
_CACHE: Final = "arena_cache"


class _Session(Protocol):
    """A driver's connection that sends queued changes and the next query to the server in one message."""

    def change(self, sql: str, values: Mapping[str, object]) -> None:
        """Queue a statement that returns no rows. The next query or the commit sends it."""

    def ask(self, sql: str, values: Mapping[str, object]) -> Any:
        """Send the queue and a query. Return a cursor with the query's rows."""


class DatabaseClock(FunctionElement[int]):
    """The present time by the database machine's clock, in microseconds since 1970. It advances in a transaction."""

    name = "database_clock"
    type = BigInteger()
    inherit_cache = True


@compiles(DatabaseClock)
def _clock(element: DatabaseClock, compiler: Any, **_: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


class Statement:
    """An SQL statement, compiled once for each dialect. Parameters are passed by name, and rows are plain tuples."""

    __slots__ = ("_columns", "_compiled", "_statement")

    def __init__(self, statement: Select[Any] | Insert | Update | Delete, *columns: str) -> None:
        """Prepare a statement. `columns`: the columns that an insert or update sets from its parameters."""
        self._statement: Final = statement
        self._columns: Final = columns or None
        self._compiled: Final[dict[type[Dialect], str]] = {}

    def run(self, connection: Connection, values: Mapping[str, object]) -> DBAPICursor:
        """Run the statement. Return the cursor with its rows."""
        return run(connection, self.sql(connection.dialect), values)

    def write(self, connection: Connection, values: Mapping[str, object]) -> None:
        """Run a statement that returns no rows. A queue may defer it, and a later call then raises its error."""
        session = _session(connection)
        if session is None:
            self.run(connection, values)
        else:
            session.change(self.sql(connection.dialect), values)

    def sql(self, dialect: Dialect) -> str:
        """Return the statement's SQL in a dialect."""
        sql = self._compiled.get(type(dialect))
        if sql is None:
            sql = str(self._statement.compile(dialect=dialect, column_keys=self._columns))
            self._compiled[type(dialect)] = sql
        return sql


def cache(connection: Connection) -> dict[Any, Any]:
    """Return a connection's cache, for rows that never change. A rollback clears it."""
    found: dict[Any, Any] = connection.info.setdefault(_CACHE, {})
    return found


def forget(connection: Connection) -> None:
    """Clear a connection's cache, because a rollback may have undone rows in it."""
    if not connection.invalidated:  # The next driver connection has no cache, and reading `info` would open one now.
        connection.info.pop(_CACHE, None)


def forget_on_rollback(engine: Engine) -> None:
    """Clear the cache of the engine's connections at each rollback by SQLAlchemy."""
    event.listen(engine, "rollback", forget)
    event.listen(engine, "rollback_savepoint", lambda connection, *_: forget(connection))


_NOW: Final = Statement(select(DatabaseClock()))


def database_now(connection: Connection) -> int:
    """Return the present time by the database's clock, in microseconds since 1970."""
    (now,) = _NOW.run(connection, {}).fetchone() or (0,)
    return int(now)


def run(connection: Connection, sql: str, values: Mapping[str, object]) -> DBAPICursor:
    """Run SQL with the driver's cursor in the connection's transaction. If there is no transaction, begin one."""
    session = _session(connection)
    try:
        if session is not None:
            answer: DBAPICursor = session.ask(sql, values)
            return answer
        cursor: DBAPICursor = _driver(connection).cursor()
        cursor.execute(sql, values)
    except connection.dialect.loaded_dbapi.Error as error:
        # Without parameter values, because errors are logged.
        raise DBAPIError.instance(sql, None, error, connection.dialect.loaded_dbapi.Error) from error
    return cursor


def _session(connection: Connection) -> _Session | None:
    if not connection.get_execution_options().get(SESSION):
        return None
    session: _Session = _driver(connection)
    return session


def _driver(connection: Connection) -> Any:
    if not connection.in_transaction():
        connection.begin()
    driver = connection.connection.dbapi_connection
    assert driver is not None, "the connection is open"
    return driver
