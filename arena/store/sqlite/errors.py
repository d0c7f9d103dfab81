"""Translation of SQLite's error codes to the store's errors."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store.errors import DiskFull, StoreCorrupt, StoreError, StoreUnusable


def named(error: Exception, path: Path) -> Exception:
    """Translate an error of the database at `path`; return any other, violated constraints included, unchanged."""
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return error
    renamed = of_driver(error.orig, path)
    renamed.__cause__ = error
    return renamed


def of_driver(error: BaseException | None, path: Path) -> StoreError:
    """Translate an error of Python's module for SQLite."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    reason = str(error)
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # what a full disk is called that has no room for the log's index
        return DiskFull(path)
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskFull(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(path, reason)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreUnusable(path, reason)
        case _:
            return StoreError(f"{path}: {reason}")
