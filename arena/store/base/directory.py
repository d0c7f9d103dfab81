"""The data directory: its database, its lock and the operator's token."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Final

from arena.store.base.database import Database
from arena.store.base.errors import ServerUnusable, StoreReplaced, StoreUnusable, file_errors
from arena.store.postgres.database import (
    PostgresDatabase,
    address_in,
    check_address,
    store_address,
)
from arena.store.sqlite.database import SqliteDatabase

_OPERATOR: Final = "operator.token"
_IDENTITY: Final = "node.id"


def database_of(directory: Path) -> Database:
    """Return the database of a data directory, which need not exist yet. Only this function names an implementation.

    Raises: StoreUnusable, if the file with the address of a PostgreSQL database cannot be read.
    """
    if (address := address_in(directory)) is not None:
        return PostgresDatabase(directory, address)
    return SqliteDatabase(directory)


def uses_server(directory: Path) -> bool:
    """Return whether the database of a data directory is in PostgreSQL. Raises: StoreUnusable."""
    return address_in(directory) is not None


def use_server(directory: Path, store: str) -> None:
    """Let a data directory use the PostgreSQL database at an address from now on.

    Raises: ServerUnusable, StoreUnusable, DiskFull.
    """
    own = SqliteDatabase(directory)
    if not own.empty():
        reason = "it has results of its own, so --store needs another data directory"
        raise StoreUnusable(own.path, reason)
    store_address(directory, store)


def require_empty(store: str) -> None:
    """Check that a PostgreSQL database has no tables. Raises: ServerUnusable, StoreError."""
    check_address(store)
    if not PostgresDatabase(Path(), store).empty():
        raise ServerUnusable(store, "it has tables already: `createdb` makes an empty database")


def token_file(directory: Path) -> Path:
    """Return the path of the operator's token."""
    return directory / _OPERATOR


def operator_token(directory: Path) -> str:
    """Return the token that authenticates the operator. Anyone who can read its file counts as the operator.

    The file is created at the first call. Raises: StoreUnusable or DiskFull, if it can be neither read nor created.
    """
    return _created(token_file(directory), lambda: f"operator_{token_urlsafe(32)}")


def identity(directory: Path) -> str:
    """Return a random text that identifies a data directory among those of all nodes.

    The file is created at the first call. Raises: StoreUnusable or DiskFull, if it can be neither read nor created.
    """
    return _created(directory / _IDENTITY, lambda: token_hex(16))


def _created(path: Path, make: Callable[[], str]) -> str:
    """Return the content of a file. If the file is missing, create it."""
    with file_errors(path):
        path.touch(mode=0o600)
        if not (content := path.read_text()):
            content = make()
            path.write_text(content)
        return content


class OpenFiles:
    """Device and inode numbers of open files, to detect that their paths now lead to other files."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Remember the files at these paths, which have just been opened."""
        self._files = [(path, _identity(path)) for path in paths]

    def check(self) -> None:
        """Check that each path still leads to the same file. Raises: StoreReplaced."""
        for path, identity in self._files:
            if identity is None or _identity(path) != identity:
                raise StoreReplaced(path)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file; None if it is missing or unreachable."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can open, in place of any earlier one, and sync it. Raises: OSError."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(content)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Sync a directory's entries to the disk. Raises: OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
