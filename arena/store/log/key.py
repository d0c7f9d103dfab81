"""The signing key of a data directory's log, in a file that is created once. Without the key, no server starts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from arena.log.keys import HeadSigner, KeyUnreadable, LogKeys, Signer, first_key_leaf, next_key_leaf
from arena.log.leaf import LeafKind
from arena.store.base import leaves as log
from arena.store.base.directory import sync_directory, write_synced
from arena.store.base.errors import LogKeyUnusable, StoreError, file_errors

_FILE: Final = "log.key"
_NEXT: Final = "log.key.next"


def key_file(directory: Path) -> Path:
    """Return the path of the key."""
    return directory / _FILE


def next_key_file(directory: Path) -> Path:
    """Return the path of the next key, which stays there until the log names it."""
    return directory / _NEXT


def open_log(connection: Connection, directory: Path, at: int) -> HeadSigner:
    """Return the signer of a log's heads. Start the log if it has no leaf yet. `at`: now, in microseconds since 1970.

    Raises: LogKeyUnusable, DiskFull, StoreError: The key is missing.
    """
    leaves = log.key_leaves(connection)
    if not leaves:
        signer = _read(directory) if key_file(directory).exists() else _made(directory)
        leaves = (first_key_leaf(1, at, signer),)
        log.store_leaf(connection, 1, LeafKind.KEY, leaves[0])
    signer = _current(directory, LogKeys(leaves))
    head_signer = HeadSigner(LogKeys(leaves).log, signer)
    log.seal(connection, head_signer)
    return head_signer


def rotate(connection: Connection, directory: Path, at: int) -> LogKeys:
    """Add a leaf in which the log's current key names its successor, which signs after `replace_key`.

    Raises the same errors as `open_log`.
    """
    keys = LogKeys(log.key_leaves(connection))
    old, new = _current(directory, keys), Signer.new()
    log.seal(connection, HeadSigner(keys.log, old))
    _write(next_key_file(directory), new)
    number = log.size(connection) + 1
    leaf = next_key_leaf(number, at, keys, old, new)
    log.store_leaf(connection, number, LeafKind.KEY, leaf)
    return LogKeys((*keys.leaves, leaf))


def replace_key(directory: Path) -> None:
    """Replace the key with the next key, which the log must already name. Raises: DiskFull, StoreUnusable."""
    with file_errors(key_file(directory)):
        next_key_file(directory).replace(key_file(directory))
        sync_directory(directory)


def _current(directory: Path, keys: LogKeys) -> Signer:
    """Return the key that the log names. If a crash prevented the replacement of the old key, replace it first."""
    waiting = next_key_file(directory)
    if waiting.exists():
        signer = _parsed(waiting)
        if signer.public == keys.newest:
            replace_key(directory)
            return signer
    signer = _read(directory)
    if signer.public != keys.newest:
        earlier = "an earlier key of this log" if signer.public in keys else "of another log"
        raise LogKeyUnusable(key_file(directory), f"it is {earlier}")
    return signer


def _read(directory: Path) -> Signer:
    path = key_file(directory)
    if not path.exists():
        raise StoreError(
            f"{path} is missing, the key that signs the log of results: put it back, from a backup or from the first "
            "machine of several; without it nobody can tell this log from a forged one, so no other is made"
        )
    return _parsed(path)


def _parsed(path: Path) -> Signer:
    try:
        with file_errors(path):
            return Signer.read(path.read_bytes())
    except KeyUnreadable as error:
        raise LogKeyUnusable(path, str(error)) from None


def _made(directory: Path) -> Signer:
    signer = Signer.new()
    _write(next_key_file(directory), signer)
    replace_key(directory)
    return signer


def _write(path: Path, signer: Signer) -> None:
    with file_errors(path):
        write_synced(path, signer.pem())
        sync_directory(path.parent)
