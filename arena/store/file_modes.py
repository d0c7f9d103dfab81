"""The modes of a data directory's files: only the server's user may use them, whoever may enter the directory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from stat import S_IMODE
from typing import Final, NamedTuple

from arena.store.base.database import Database
from arena.store.base.directory import token_file
from arena.store.journal.journal import journal_of
from arena.store.log.key import key_file, next_key_file
from arena.store.replays.files import segments_of

_OTHERS: Final = 0o077
"""The bits of a mode for group and others."""
_ENTER: Final = 0o011
"""The bits among them with which they can open files in a directory."""


class ExposedFile(NamedTuple):
    """A file or folder that other users could open until a start."""

    path: Path
    before: int
    """Mode until then."""
    now: int
    """Mode since; the same where the file system or its owner does not let it be changed."""


def close_to_others(directory: Path, database: Database) -> tuple[ExposedFile, ...]:
    """Take from other users what they may do with the files of a data directory; return those they could reach."""
    found = []
    for path in (
        *database.files,
        token_file(directory),
        key_file(directory),
        next_key_file(directory),
        journal_of(directory),
        segments_of(directory),
    ):
        with suppress(FileNotFoundError):
            before = S_IMODE(path.stat().st_mode)
            if before & _OTHERS:
                with suppress(OSError):
                    path.chmod(before & ~_OTHERS)
                found.append(ExposedFile(path, before, S_IMODE(path.stat().st_mode)))
    return tuple(found) if S_IMODE(directory.stat().st_mode) & _ENTER else ()
