"""Statements that every match runs: compiled once and run by the driver; SQLAlchemy takes ten times as long to run one.

They belong to their connection's transaction and raise SQLAlchemy's errors, as all other statements do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sqlite3 import Cursor
from typing import Any, Final

from sqlalchemy import Connection, Delete, Insert, Select, Update
from sqlalchemy.dialects import sqlite

from arena.store.sqlite import run, run_all

_DIALECT: Final = sqlite.dialect(paramstyle="named")


class Prepared:
    """One statement. Values are given by the names of its parameters; rows are plain tuples."""

    __slots__ = ("_sql",)

    def __init__(self, statement: Select[Any] | Insert | Update | Delete, *columns: str) -> None:
        """`columns` are those that an insertion or an update without values of its own sets."""
        self._sql: Final = str(statement.compile(dialect=_DIALECT, column_keys=columns or None))

    def run(self, connection: Connection, values: Mapping[str, object]) -> Cursor:
        """Runs it once."""
        return run(connection, self._sql, values)

    def run_all(self, connection: Connection, rows: Sequence[Mapping[str, object]]) -> None:
        """Runs it once for each of these values."""
        run_all(connection, self._sql, rows)
