"""The lock of a data directory, which admits one server at a time.

With several nodes, the parent process holds this lock for all of them. Each node holds another lock for its own number.

A lock is an flock on a file. The kernel releases it when both the server and the writer process that shares it have
ended, for any reason. The file contains the server's process id and a newline. Once the server is listening, the path
of its Unix socket and a zero byte follow.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from arena.store.base.errors import StoreLocked, StoreUnusable, file_error, file_errors

_LOCK: Final = "arena.lock"
_NODE_LOCK: Final = "node-{}.lock"
_LONGEST: Final = 8192
"""Maximum number of bytes read from the lock file."""
_LAST_WRITES: Final = 30.0
"""Maximum number of seconds that the writer process of a dead server may need to finish its last jobs."""


class LockHolder(NamedTuple):
    """The process that has locked a data directory."""

    pid: int | None
    """Process id; None while the process is about to write it."""
    socket: Path | None
    """The Unix socket of the process, if it is a server that is already listening."""


@contextmanager
def locked(directory: Path, node: int | None = None) -> Iterator[int]:
    """Lock a directory as in `Database.locked`. Yield the descriptor. Raises: StoreLocked, StoreUnusable, DiskFull."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = _LOCK if node is None else _NODE_LOCK.format(node)
        lock = os.open(directory / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (FileExistsError, NotADirectoryError):
        raise StoreUnusable(directory, "it is not a directory") from None
    except OSError as error:
        raise file_error(directory, error) from error
    try:
        _take(lock, directory)
        with file_errors(directory / name):
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield lock
        os.ftruncate(lock, 0)
    finally:
        os.close(lock)


def announce(directory: Path, lock: int, socket: Path) -> None:
    """Write the path of the server's Unix socket to its lock file. Raises: DiskFull, StoreUnusable.

    For a socket in the directory, only the name is written, because the reader may see the directory under another
    path.
    """
    told = socket.name if socket.parent == directory.absolute() else str(socket.absolute())
    with file_errors(directory / _LOCK):
        pid = os.pread(lock, _LONGEST, 0).partition(b"\n")[0]  # The parent's id, if this process is one of its nodes.
        os.pwrite(lock, b"\n" + os.fsencode(told) + b"\0", len(pid))


def _take(lock: int, directory: Path) -> None:
    deadline = time.monotonic() + _LAST_WRITES
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = _holder(lock, directory).pid
            if (pid is not None and _alive(pid)) or time.monotonic() > deadline:
                raise StoreLocked(directory, pid) from None
            time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # The server runs as another user.
    return True


def holder(directory: Path) -> LockHolder | None:
    """Return the holder of a directory's lock, or None if the lock is free. Raises: StoreUnusable."""
    path = directory / _LOCK
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_error(path, error) from error
    try:
        # This test holds the lock only for a moment. A server that is starting retries.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(lock, directory)
    finally:
        os.close(lock)
    return None  # The process named in the file has died.


def _holder(lock: int, directory: Path) -> LockHolder:
    """Return the holder named in the lock file. Its fields are None while the holder is about to write them."""
    pid, _, rest = os.pread(lock, _LONGEST, 0).partition(b"\n")
    path, whole, _ = rest.partition(b"\0")
    socket = directory.absolute() / os.fsdecode(path) if whole else None
    return LockHolder(int(pid) if pid.isdigit() else None, socket)
