"""Translation of SQLite's error codes to the store's errors."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store.base.errors import DiskFull, StoreCorrupt, StoreError, StoreUnusable


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
    # SQLite reports a full disk in this way if there is no space for the log's index.
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return DiskFull(path)
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskFull(path)
        case sqlite3.SQLITE_CANTOPEN if _full(path.parent):
            return DiskFull(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(path, reason)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreUnusable(path, reason)
        case _:
            return StoreError(f"{path}: {reason}")


def _full(directory: Path) -> bool:
    """Return true if the disk of a directory has no space for a file; SQLite then reports that it cannot open the
    database."""
    with suppress(OSError):
        disk = os.statvfs(directory)
        # Some file systems count no files.
        return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)
    return False
