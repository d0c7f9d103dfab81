"""Statements that every match runs: compiled once and run by the driver; SQLAlchemy takes ten times as long to run one.

They belong to their connection's transaction and raise SQLAlchemy's errors, as all other statements do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Delete, Insert, Select, Update
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

from arena.store.sqlite import driver

_DIALECT: Final = sqlite.dialect(paramstyle="named")


class Prepared:
    """One statement. Values are given by the names of its parameters; rows are plain tuples."""

    __slots__ = ("_sql",)

    def __init__(self, statement: Select[Any] | Insert | Update | Delete, *columns: str) -> None:
        """`columns` are those that an insertion or an update without values of its own sets."""
        self._sql: Final = str(statement.compile(dialect=_DIALECT, column_keys=columns or None))

    def run(self, connection: Connection, values: Mapping[str, object]) -> sqlite3.Cursor:
        """Runs it once."""
        try:
            return driver(connection).execute(self._sql, values)
        except sqlite3.Error as error:
            raise self._named(error) from error

    def run_all(self, connection: Connection, rows: Sequence[Mapping[str, object]]) -> None:
        """Runs it once for each of these values."""
        try:
            driver(connection).executemany(self._sql, rows)
        except sqlite3.Error as error:
            raise self._named(error) from error

    def _named(self, error: sqlite3.Error) -> BaseException:
        """The error as SQLAlchemy has it, without the parameters: those are seeds and hashes, and errors are logged."""
        return DBAPIError.instance(self._sql, None, error, sqlite3.Error, hide_parameters=True)
