"""The choice of the build to run. In a checkout, the compiled build runs if `make compiled` built it from these
sources.

Every way to start in a checkout imports this module first (`arena/__init__.py`), so the compiled build is never missed
by accident. `ARENA_BUILD=sources` selects the sources instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

PACKAGES: Final = ("arena", "engine", "trio_grpc")
FINGERPRINT: Final = "sources.json"
"""File in the folder of the compiled build: size and time of each of its source files, and a digest of them all."""
COMPILED: Final = "arena/match/match"
"""A module that is compiled in every compiled build."""


def select(path: list[str]) -> str:
    """Put a checkout's compiled build first on `arena.__path__` if it was built from the current sources.

    Return the reason why the compiled build does not run, or "" if it runs or there is none.
    """
    root = Path(path[0]).parent
    folder = root / "build" / "compiled"
    if not (folder / FINGERPRINT).is_file() or os.environ.get("ARENA_BUILD") == "sources":
        return ""
    if not any((folder / f"{COMPILED}{suffix}").is_file() for suffix in EXTENSION_SUFFIXES):
        return f"{folder} is of another Python than {sys.version.split()[0]}: run make compiled"
    if not _made_of(root, folder):
        return f"{folder} is of other sources than those that are there: run make compiled"
    path[:] = [str(folder / "arena")]
    sys.path.insert(0, str(folder))
    return ""


def kind() -> str:
    """Return the kind of the running build: "compiled" or "sources"."""
    from importlib.util import find_spec

    found = find_spec(COMPILED.replace("/", "."))
    return "compiled" if found is not None and str(found.origin).endswith(tuple(EXTENSION_SUFFIXES)) else "sources"


def fingerprint(root: Path) -> str:
    """Return the content of `FINGERPRINT` for a build of the packages in a folder."""
    import json

    files = _files(root)
    return json.dumps({"files": files, "sha256": _digest(root, files)})


def _made_of(root: Path, folder: Path) -> bool:
    import json

    try:
        recorded = json.loads((folder / FINGERPRINT).read_text())
        made_of, digest = recorded["files"], recorded["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    files = _files(root)
    return bool(files == made_of) or (files.keys() == made_of.keys() and _digest(root, files) == digest)


def _files(root: Path) -> dict[str, list[int]]:
    """Return the size and modification time, in nanoseconds, of every file of the packages, by path."""
    return {
        entry.path[len(str(root)) + 1 :]: [entry.stat().st_size, entry.stat().st_mtime_ns]
        for package in PACKAGES
        for entry in _entries(str(root / package))
    }


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _entries(entry.path)
            else:
                yield entry


def _digest(root: Path, names: Iterable[str]) -> str:
    from hashlib import sha256

    total = sha256()
    for name in sorted(names):
        total.update(f"{name}\0{sha256((root / name).read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()
