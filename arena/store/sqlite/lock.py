"""The lock of a data directory, which admits one server at a time.

It is an flock on a file: the kernel releases it when the server and the writer process that shares it have ended,
however they end.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from arena.store.errors import StoreLocked, StoreUnusable, file_error

_LOCK: Final = "arena.lock"
_LAST_WRITES: Final = 30.0
"""Seconds that the writer process of a dead server may take to finish its last jobs."""


@contextmanager
def locked(directory: Path) -> Iterator[int]:
    """Lock a directory for one server, creating it for its user only if it does not exist; yield the descriptor.

    The lock is held until every process that has the descriptor open has closed it or ended.
    StoreLocked: another server has the lock. StoreUnusable: it is not a directory or cannot be written. DiskFull.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (FileExistsError, NotADirectoryError):
        raise StoreUnusable(directory, "it is not a directory") from None
    except OSError as error:
        raise file_error(directory, error) from error
    try:
        _take(lock, directory)
        try:
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
        except OSError as error:
            raise file_error(directory / _LOCK, error) from error
        yield lock
        os.ftruncate(lock, 0)
    finally:
        os.close(lock)


def _take(lock: int, directory: Path) -> None:
    deadline = time.monotonic() + _LAST_WRITES
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = _holder(lock)
            if (pid is not None and _alive(pid)) or time.monotonic() > deadline:
                raise StoreLocked(directory, pid) from None
            time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it runs as another user
    return True


def holder(directory: Path) -> int | None:
    """Return the process id of the server that has locked a directory, None if there is none. StoreUnusable."""
    path = directory / _LOCK
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_error(path, error) from error
    try:
        return _holder(lock)
    finally:
        os.close(lock)


def _holder(lock: int) -> int | None:
    """Return the process id in the lock file; None in the moment before its holder has written it."""
    text = os.pread(lock, 20, 0)
    return int(text) if text.isdigit() else None
