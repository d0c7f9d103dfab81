"""The data directory and its lock: one server at a time.

The lock is the kernel's and goes with the process, however it ends, and with the clerk that shares it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

from arena.store.errors import StoreLocked, StoreUnusable

_LOCK: Final = "arena.lock"
_OPERATOR: Final = "operator.token"
_LAST_WORK: Final = 30.0
"""Seconds that the clerk of a server that is gone may take to write what it was told last."""


@contextmanager
def locked(directory: Path) -> Iterator[int]:
    """Makes the directory if need be (for its user alone) and keeps every other server out of it; gives the lock.

    The lock is held until every process that has it is gone or has closed it.
    StoreLocked: another server is in. StoreUnusable: it is not a directory or cannot be written.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (FileExistsError, NotADirectoryError):
        raise StoreUnusable(directory, "it is not a directory") from None
    except OSError as error:
        raise StoreUnusable(directory, error.strerror or str(error)) from error
    try:
        _take(lock, directory)
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield lock
        os.ftruncate(lock, 0)
    finally:
        os.close(lock)


def _take(lock: int, directory: Path) -> None:
    patience = time.monotonic() + _LAST_WORK
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = _holder(lock)
            if (pid is not None and _alive(pid)) or time.monotonic() > patience:
                raise StoreLocked(directory, pid) from None
            time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is another user's
    return True


def operator_token(directory: Path) -> str:
    """The secret by which a server knows its operator: whoever can read the file. Made when it is first asked for.

    StoreUnusable if it can be neither read nor made.
    """
    path = directory / _OPERATOR
    try:
        path.touch(mode=0o600)
        if not (token := path.read_text()):
            token = f"operator_{token_urlsafe(32)}"
            path.write_text(token)
        return token
    except OSError as error:
        raise StoreUnusable(path, error.strerror or str(error)) from error


def holder(directory: Path) -> int | None:
    """The process id of the server that works on a directory; None if none does. StoreUnusable if that is unknown."""
    path = directory / _LOCK
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnusable(path, error.strerror or str(error)) from error
    try:
        return _holder(lock)
    finally:
        os.close(lock)


def _holder(lock: int) -> int | None:
    """The process id in the lock file; None in the moment before its holder has written it."""
    text = os.pread(lock, 20, 0)
    return int(text) if text.isdigit() else None
