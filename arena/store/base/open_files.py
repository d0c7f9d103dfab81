"""The files that a process has open, to notice when one is deleted or replaced: what it writes then is nobody's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from arena.store.base.errors import StoreReplaced


class OpenFiles:
    """Files that are open now, known by device and number: their paths must go on leading to them."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Remember the files at these paths, which were opened a moment ago; `check` refuses a missing one, too."""
        self._files = [(path, _identity(path)) for path in paths]

    def check(self) -> None:
        """Raise StoreReplaced if a path leads to another file now, or to none."""
        for path, identity in self._files:
            if identity is None or _identity(path) != identity:
                raise StoreReplaced(path)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and number of a file; None if there is none, or it cannot be reached."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def sync_directory(path: Path) -> None:
    """Bring the names in a directory to the disk. Raises: OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
