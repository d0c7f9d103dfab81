"""The data directory: its database, its lock and the operator's token."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from arena.store.base.database import Database, LockHolder
from arena.store.base.errors import file_error
from arena.store.sqlite.database import SqliteDatabase

_OPERATOR: Final = "operator.token"


def database_of(directory: Path) -> Database:
    """Return the database of a data directory, which need not exist yet. Nothing else chooses the implementation."""
    return SqliteDatabase(directory)


def locked(directory: Path) -> AbstractContextManager[int]:
    """Lock a directory for one server; see `Database.locked`."""
    return database_of(directory).locked()


def holder(directory: Path) -> LockHolder | None:
    """Return who has locked a directory; see `Database.holder`."""
    return database_of(directory).holder()


def token_file(directory: Path) -> Path:
    """Return where the operator's token is kept."""
    return directory / _OPERATOR


def operator_token(directory: Path) -> str:
    """Return the token that authenticates the operator; whoever can read its file is the operator.

    The file is created at the first call. StoreUnusable or DiskFull if it can be neither read nor created.
    """
    path = token_file(directory)
    try:
        path.touch(mode=0o600)
        if not (token := path.read_text()):
            token = f"operator_{token_urlsafe(32)}"
            path.write_text(token)
        return token
    except OSError as error:
        raise file_error(path, error) from error
