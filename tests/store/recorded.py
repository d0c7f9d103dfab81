"""Data directories of the oldest schema that a server upgrades, in the state in which the program of that schema left
them.

A server with that program was killed while Ada and house-random played match 5. Before that, it had finished four rated
matches of 6th Sense and published their ladder, and its operator had banned Bob.
"""

from __future__ import annotations

import sqlite3
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

RECORDED: Final = Path(__file__).with_name("directory_0017.tar.xz")
FORMER: Final = {"rated_results": "events"}
"""Names of tables in the recorded schema, by their present names, if the two differ."""


def recorded_directory(directory: Path) -> None:
    """Copy the recorded data directory to a path."""
    directory.mkdir()
    with tarfile.open(RECORDED) as archive:
        archive.extractall(directory, filter="tar")  # this preserves the modes of folders


@contextmanager
def oldest_database(directory: Path) -> Iterator[sqlite3.Connection]:
    """Create a data directory whose database has the recorded tables without rows, for tests to fill."""
    with TemporaryDirectory() as recorded:
        recorded_directory(Path(recorded, "data"))
        with closing(sqlite3.connect(Path(recorded, "data", "arena.db"))) as database:
            tables = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
            revision = database.execute("SELECT version_num FROM alembic_version").fetchone()
    directory.mkdir()
    with closing(sqlite3.connect(directory / "arena.db")) as database, database:
        for sql in tables:
            database.execute(sql)
        database.execute("INSERT INTO alembic_version VALUES (?)", revision)
        yield database


def fill(database: sqlite3.Connection, rows: Mapping[str, Iterable[Sequence[Any]]]) -> None:
    """Insert rows of the present tables without the columns that were added later."""
    for name, found in rows.items():
        table = FORMER.get(name, name)
        width = len(database.execute(f"PRAGMA table_info({table})").fetchall())
        places = ",".join("?" * width)
        if width:
            database.executemany(f"INSERT INTO {table} VALUES ({places})", [row[:width] for row in found])
