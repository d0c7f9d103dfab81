"""SQLAlchemy engines for PostgreSQL: settings, transactions and creation of tables.

As in SQLite, text sorts by bytes, NULLs come first, sums are integers and new rows get the next number. Triggers
protect the tables that are append-only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Column, Connection, Engine, NullPool, QueuePool, Table, Text, create_engine, event, text
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.base import PGDDLCompiler
from sqlalchemy.dialects.postgresql.psycopg import PGCompiler_psycopg, PGDialect_psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import asc_op, desc_op

from arena.store.base.errors import STANDBY, ServerUnusable, StoreError
from arena.store.base.statements import REPLAYS_IN_ROWS, SESSION, forget_on_rollback
from arena.store.schema import APPEND_ONLY, AppendOnly, metadata

if TYPE_CHECKING:
    import psycopg

LOCK_TIMEOUT: Final = 10.0
"""Maximum number of seconds to wait for the write lock."""
OLDEST_SERVER: Final = 15
_WRITE_LOCK: Final = 0x6172656E61
"""Key of the advisory lock that a writing transaction acquires first. Advisory locks are local to a database."""
_DIRECTORY_LOCK: Final = _WRITE_LOCK + 1
"""Key of the advisory lock of the data directory that uses the database, or of all directories that share it."""
_SERVERS: Final = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted AND objsubid = 1
AND (classid::bigint << 32) + objid::bigint = :key
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
HELD_EVERY: Final = 5.0
"""Number of seconds between checks of a data directory's session."""
_LAST_SESSION: Final = 5.0
"""Maximum number of seconds until the database server notices the end of a killed process."""
_LOST_MACHINE: Final = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
_LONGEST_PAUSE: Final = 3000
"""Milliseconds for which a writing transaction may pause, so that a stopped server soon stops blocking the others."""
_IN_USE: Final = (
    "a server with another data directory uses it; stop that server first, or give each a number with --node"
)
_IN_USE_ALONE: Final = "a server without --node uses it; stop that server first, or start it with --node, too"
_COPIED: Final = (
    "a server with a copy of this data directory uses it; take a new directory, with only log.key from the other one"
)
_CONNECT: Final[dict[str, Any]] = {
    "connect_timeout": 10,
    "application_name": "arena",
    "client_encoding": "UTF8",
    # A broken network is detected within seconds; the system's defaults take minutes. A server that waits for the write
    # lock may leave megabytes unconfirmed, so the first of these times, in milliseconds, exceeds that wait.
    "tcp_user_timeout": int(1.5 * LOCK_TIMEOUT * 1000),
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}


class _Compiler(PGCompiler_psycopg):
    """Compiler of statements in which NULL sorts before every value."""

    def order_by_clause(self, select: Any, **settings: Any) -> str:
        """Return an ORDER BY clause that states where NULLs sort."""
        clauses = [self._placed(clause, **settings) for clause in select._order_by_clauses]
        return f" ORDER BY {', '.join(clauses)}" if clauses else ""

    def _placed(self, clause: Any, **settings: Any) -> str:
        text: str = clause._compiler_dispatch(self, **settings)
        of = clause
        while isinstance(of, UnaryExpression) and of.modifier in {asc_op, desc_op}:
            of = of.element
        if "NULLS" in text or (isinstance(of, Column) and not of.nullable):  # Without NULLS, an index can be used.
            return text
        return f"{text} NULLS LAST" if text.endswith(" DESC") else f"{text} NULLS FIRST"


class _Tables(PGDDLCompiler):
    """Compiler of tables whose text sorts by bytes and whose numbers come from a trigger."""

    def get_column_specification(self, column: Column[Any], **settings: Any) -> str:
        """Return the definition of a column."""
        text = str(super().get_column_specification(column, **settings)).replace("BIGSERIAL", "BIGINT")  # type: ignore[no-untyped-call]
        return text.replace(" TEXT", ' TEXT COLLATE "C"', 1) if isinstance(column.type, Text) else text

    def visit_column_check_constraint(self, constraint: Any, **settings: Any) -> str:
        """Return a column's check. `only` is a reserved word in PostgreSQL."""
        text = super().visit_column_check_constraint(constraint, **settings)  # type: ignore[no-untyped-call]
        return str(text).replace("(only ", '("only" ')


class ArenaDialect(PGDialect_psycopg):
    """PostgreSQL through psycopg, with statements and tables that mean the same as in SQLite."""

    statement_compiler = _Compiler
    ddl_compiler = _Tables
    supports_statement_cache = True


registry.register("postgresql.arena", __name__, ArenaDialect.__name__)


def writing(address: str, beside: bool) -> Engine:
    """Return a writing engine. A transaction acquires the write lock with its first statement."""
    pause = _LONGEST_PAUSE if beside else 0
    settings = f"SET idle_in_transaction_session_timeout = {pause}; SET lock_timeout = {LOCK_TIMEOUT * 1000:.0f}"
    begin = "BEGIN", f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})"
    return _engine(address, settings, begin, {"poolclass": NullPool}, writes=True)


def reading(address: str) -> Engine:
    """Return a read-only engine. Each transaction sees one committed state."""
    begin = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)
    return _engine(address, "SET default_transaction_read_only = on", begin, {"poolclass": QueuePool}, writes=False)


@contextmanager
def locked_database(address: str, identity: str = "") -> Iterator[None]:
    """Lock a database for one data directory, or if `identity` is given, for one of several that share it.

    `identity`: the identity of the data directory, which no other directory has. A session holds the lock. If the
    session ends, for example because the primary failed, a thread locks the database again as soon as it can.

    Raises: DBAPIError, ServerUnusable, StoreError: The driver is not installed.
    """
    session, ended = _lock_session(address, identity), Event()

    def hold() -> None:
        nonlocal session
        while not ended.wait(HELD_EVERY):
            try:
                session.execute(b"SELECT 1")
            except _driver().Error:
                session.close()
                with suppress(DBAPIError, ServerUnusable):
                    session = _lock_session(address, identity)

    holder = Thread(target=hold, name="directory-lock", daemon=True)
    holder.start()
    try:
        yield
    finally:
        ended.set()
        holder.join(_LAST_SESSION)
        session.close()


def _lock_session(address: str, identity: str) -> psycopg.Connection[Any]:
    driver = _driver()
    statement = "SELECT pg_try_advisory_lock(%s)"
    try:
        session: psycopg.Connection[Any] = driver.connect(address, autocommit=True, **_CONNECT)
        try:
            session.execute(_LOST_MACHINE)
            if not identity:
                _lock(session, statement, _DIRECTORY_LOCK, address, _IN_USE)
                return session
            _lock(session, "SELECT pg_try_advisory_lock_shared(%s)", _DIRECTORY_LOCK, address, _IN_USE_ALONE)
            own = int.from_bytes(sha256(identity.encode()).digest()[:8], signed=True)
            _lock(session, statement, own, address, _COPIED)
        except BaseException:
            session.close()
            raise
    except driver.Error as error:
        raise DBAPIError.instance(statement, None, error, driver.Error) from error
    return session


def _lock(session: psycopg.Connection[Any], statement: str, key: int, address: str, reason: str) -> None:
    end = time.monotonic() + _LAST_SESSION
    while session.execute(statement.encode(), [key]).fetchone() != (True,):
        if time.monotonic() > end:
            raise ServerUnusable(address, reason)
        time.sleep(0.1)


def servers(connection: Connection) -> int:
    """Return the number of servers that share the database."""
    return connection.execute(text(_SERVERS), {"key": _DIRECTORY_LOCK}).scalar() or 0


def _driver() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise StoreError("a store in PostgreSQL needs psycopg: pip install 'psycopg[binary]>=3.2'") from error
    return psycopg


def _engine(address: str, settings: str, begin: tuple[str, ...], pool: dict[str, Any], *, writes: bool) -> Engine:
    _driver()  # Raises: StoreError: It is not installed.
    from arena.store.postgres.session import Conversions, Cursor, PostgresSession

    def connect() -> psycopg.Connection[Any]:
        # In this mode the driver begins no transactions; the event listener below does.
        connection = PostgresSession.connect(address, autocommit=True, context=Conversions, **_CONNECT)
        try:
            version = connection.info.server_version // 10000
            if version < OLDEST_SERVER:
                reason = f"it is PostgreSQL {version}, and the arena needs {OLDEST_SERVER} or later"
                raise ServerUnusable(address, reason)
            connection.execute(settings)
            if writes:
                connection.cursor_factory = Cursor
            if writes and connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
                raise ServerUnusable(address, STANDBY)
        except BaseException:
            connection.close()
            raise
        return connection

    # Errors are logged, and parameters include seeds and hashes, so hide them.
    made = create_engine(
        "postgresql+arena://",
        creator=connect,
        hide_parameters=True,
        execution_options={REPLAYS_IN_ROWS: True, SESSION: writes},
        use_native_hstore=False,
        **pool,
    )

    def on_begin(connection: Connection) -> None:
        session: Any = connection.connection.dbapi_connection
        if writes:
            session.begin(*(each.encode() for each in begin))
        else:
            connection.exec_driver_sql(begin[0])

    event.listen(made, "begin", on_begin)
    forget_on_rollback(made)
    return made


def create_tables(connection: Connection) -> None:
    """Create the tables in an empty database."""
    metadata.create_all(connection)
    for table in metadata.sorted_tables:
        for trigger in _triggers(table):
            connection.exec_driver_sql(trigger.replace("%", "%%"))


def _triggers(table: Table) -> Iterator[str]:
    name = table.name
    key = table.autoincrement_column
    if key is not None and not key.foreign_keys:
        yield _function(
            f"{name}_next",
            f'NEW."{key.name}" := coalesce((SELECT max("{key.name}") FROM {name}), 0) + 1; RETURN NEW;',  # noqa: S608 - the schema's names
        )
        yield (
            f"CREATE TRIGGER {name}_a_next BEFORE INSERT ON {name} FOR EACH ROW "
            f'WHEN (NEW."{key.name}" IS NULL) '
            f"EXECUTE FUNCTION {name}_next()"
        )
    guard: AppendOnly | None = table.info.get(APPEND_ONLY)
    if guard is None:
        return
    number, within = guard
    yield _function(f"{name}_stay", f"RAISE EXCEPTION '{name} are only added' USING ERRCODE = 'check_violation';")
    yield (f"CREATE TRIGGER {name}_stay BEFORE UPDATE OR DELETE ON {name} FOR EACH ROW EXECUTE FUNCTION {name}_stay()")
    yield f"CREATE TRIGGER {name}_remain BEFORE TRUNCATE ON {name} EXECUTE FUNCTION {name}_stay()"
    alike = f" WHERE {within} = NEW.{within}" if within else ""
    yield _function(
        f"{name}_follow",
        f"IF NEW.{number} <> (SELECT coalesce(max({number}), 0) + 1 FROM {name}{alike}) THEN "  # noqa: S608
        f"RAISE EXCEPTION '{name} are numbered without a gap' USING ERRCODE = 'check_violation'; END IF; RETURN NEW;",
    )
    yield f"CREATE TRIGGER {name}_follow BEFORE INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION {name}_follow()"


def _function(name: str, body: str) -> str:
    return f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
