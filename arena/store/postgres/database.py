"""A data directory whose database is on a PostgreSQL server; the directory contains the journal, the key and the lock.

Its file `postgresql.url` contains the address of the database. The driver is imported when a connection is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from arena.store.base import lock as locks
from arena.store.base.database import Database, disposed
from arena.store.base.errors import (
    STANDBY,
    DiskFull,
    ServerUnusable,
    StoreBusy,
    StoreError,
    StoreUnusable,
    file_errors,
    without_password,
)
from arena.store.base.migrate import copy_rows, migrate

FILE: Final = "postgresql.url"
"""Name of the file with the address."""
SCHEMES: Final = ("postgresql", "postgres")
_REMEDIES: Final = {
    "28P01": "the password is wrong",
    "28000": "its user may not log in: see pg_hba.conf on that machine",
    "3D000": "there is no such database: `createdb` makes one",
    "53300": "it has no connection left: raise max_connections there (a server needs 8)",
    "53400": "it has no connection left: raise the limit of the user or the database (a server needs 8)",
    "42501": "the user may not create or change tables there: make it the owner of the database",
    "25006": STANDBY,
    "57P01": "its administrator ended the session, or it stopped; the next try connects anew",
    "57P03": "it is starting or stopping; try again in a moment",
    "25P03": "this program was stopped for longer than a transaction may pause, so its transaction was undone",
    "57P05": "it ended an idle session",
}
"""The cause and the remedy, by the server's code for the error."""
_UNREACHABLE: Final = "it cannot be reached: is it running, and are host and port right?"


def address_in(directory: Path) -> str | None:
    """Return the address of a directory's PostgreSQL database; None if it has none. Raises: StoreUnusable."""
    try:
        return (directory / FILE).read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        if not os.path.lexists(directory / FILE):
            return None  # The directory cannot be entered; the next step reports that.
        raise StoreUnusable(directory / FILE, str(error)) from error


def check_address(store: str) -> None:
    """Check the form of an address. Raises: ServerUnusable."""
    parts = urlsplit(store)
    if parts.scheme not in SCHEMES or not parts.path.strip("/") or any(each.isspace() for each in store):
        raise ServerUnusable(store, "write postgresql://USER@HOST/DATABASE")


def store_address(directory: Path, store: str) -> None:
    """Store the address of a directory's database in its file, which only its owner can read.

    Raises: ServerUnusable, StoreUnusable, DiskFull.
    """
    check_address(store)
    if address_in(directory) == store:
        return
    path = directory / FILE
    with file_errors(path):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_name(f"{FILE}.new")
        new.touch(mode=0o600)
        new.write_text(f"{store}\n")
        new.replace(path)


@dataclass(frozen=True, slots=True)
class PostgresDatabase(Database):
    """The database of a data directory in PostgreSQL."""

    directory: Path
    address: str

    @property
    def path(self) -> Path:
        return self.directory / FILE

    @property
    def migrations(self) -> Path:
        return Path(__file__).parents[1] / "sqlite" / "migrations"

    def create_tables(self, connection: Connection) -> None:
        from arena.store.postgres import engine

        engine.create_tables(connection)

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def size(self, connection: Connection) -> int | None:
        size: int | None = connection.scalar(text("SELECT pg_database_size(current_database())"))
        return size

    def empty(self) -> bool:
        try:
            with disposed(self.reading()) as engine, engine.connect() as connection:
                return not connection.dialect.get_table_names(connection)
        except DBAPIError as error:
            raise self.named(error) from error

    def writing(self, beside: bool = True) -> Engine:
        from arena.store.postgres import engine

        return engine.writing(self.address, beside)

    def reading(self) -> Engine:
        from arena.store.postgres import engine

        return engine.reading(self.address)

    def copy(self, connection: Connection, to: Database, progress: Callable[[int, int], None]) -> None:
        with to.writing().connect() as target, target.begin():
            migrate(target, to)
            copy_rows(connection, target, progress)

    def compact(self) -> None:
        pass  # The server does it.

    @contextmanager
    def locked(self, node: int | None = None, identity: str = "") -> Iterator[int]:
        from arena.store.postgres import engine

        with locks.locked(self.directory, node) as held, ExitStack() as stack:
            if node is None:
                try:
                    stack.enter_context(engine.locked_database(self.address, identity))
                except DBAPIError as error:
                    raise self.named(error) from error
            yield held

    def used_elsewhere(self, connection: Connection) -> bool:
        from arena.store.postgres import engine

        return engine.servers(connection) > 1

    def of_driver(self, error: BaseException | None) -> StoreError:
        code = getattr(error, "sqlstate", None)
        if code is None and (found := _connection_code(str(error))):
            code = found
        if code == "53100":
            return DiskFull(self.path)
        if code == "55P03":
            from arena.store.postgres import engine

            return StoreBusy(self.path, engine.LOCK_TIMEOUT)
        if code in _REMEDIES:
            return ServerUnusable(self.address, _REMEDIES[code])
        reason = " ".join(str(error).split())
        if code is None or code[:2] in {"08", "57"}:
            return ServerUnusable(self.address, f"{_UNREACHABLE} ({reason})")
        return StoreError(f"{without_password(self.address)}: {reason}")


def _connection_code(message: str) -> str | None:
    """Return the error code for the text of a failed connection, for which the driver gives no code."""
    texts = {
        "password authentication failed": "28P01",
        "no password supplied": "28P01",
        "no pg_hba.conf entry": "28000",
        "too many clients": "53300",
        "remaining connection slots": "53300",
        "too many connections for": "53400",
        "the database system is": "57P03",
    }
    if 'database "' in message and "does not exist" in message:
        return "3D000"
    return next((code for text, code in texts.items() if text in message), None)
