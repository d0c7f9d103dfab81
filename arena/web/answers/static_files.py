"""Scripts, styles and pictures. Their addresses contain a digest of all of them, so browsers may cache them
permanently.

They are read, compressed and digested once, when this module is imported.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Final, NamedTuple

TYPES: Final = {
    "css": "text/css",
    "js": "text/javascript",
    "png": "image/png",
    "svg": "image/svg+xml",
}
"""Media types by file extension."""
_FOLDERS: Final = (("arena.web", "static"), ("arena.replay.render", "page"))


class StaticFile(NamedTuple):
    """The content of a file; for text, also in gzip form."""

    content: bytes
    media_type: str
    compressed: bytes | None


def _read() -> Mapping[str, StaticFile]:
    found = {}
    for package, folder in _FOLDERS:
        for path in (files(package) / folder).iterdir():
            media_type, content = TYPES[path.name.rpartition(".")[2]], path.read_bytes()
            compressed = None if media_type == "image/png" else gzip.compress(content, mtime=0)
            found[path.name] = StaticFile(content, media_type, compressed)
    return dict(sorted(found.items()))


FILES: Final = _read()
DIGEST: Final = sha256(
    b"".join(name.encode() + sha256(each.content).digest() for name, each in FILES.items())
).hexdigest()[:16]
"""Digest of all files, which names their folder. Scripts import each other, so any change changes all addresses."""


def static_path(root: str) -> str:
    """Return the public path of the folder with all files. `root`: the path that a proxy removes."""
    return f"{root}/static/{DIGEST}"
