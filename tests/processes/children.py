"""The child processes of a process that run a module, from the system's list of processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


def children(parent: int, module: str) -> list[int]:
    """Return the children of a process that run a module."""
    found = []
    for path in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if int((path / "stat").read_text().rpartition(")")[2].split()[1]) == parent and runs(path.name, module):
                found.append(int(path.name))
    return found


def runs(process: int | str, module: str) -> bool:
    """Return True if a process with this number runs the module."""
    return module.encode() in _words(process)


def _words(process: int | str) -> Sequence[bytes]:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ()
