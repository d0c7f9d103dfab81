"""What a data directory takes of the disk."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, case, func, select

from arena.store import schema
from arena.store.directory import database_of
from arena.store.journal import journal_of


@dataclass(frozen=True, slots=True)
class ReplayUse:
    """What the replays of one game take."""

    game: str
    kept: int
    pruned: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes of a data directory's files, and of the replays within the database."""

    database: int
    journal: int
    replays: tuple[ReplayUse, ...]


def disk_use(connection: Connection, directory: Path) -> DiskUse:
    """Return what a data directory takes; it reads the length of every replay."""
    content, length = schema.replays.c.content, func.length(schema.replays.c.content)
    kept = func.count(case((length > 0, 1)))
    query = (
        select(schema.matches.c.game, kept, func.count(content) - kept, func.sum(length))
        .join_from(schema.replays, schema.matches)
        .group_by(schema.matches.c.game)
        .order_by(schema.matches.c.game)
    )
    replays = tuple(ReplayUse(*row) for row in connection.execute(query))
    files = database_of(directory).files
    return DiskUse(_size(*files), _size(*journal_of(directory).glob("*")), replays)


def _size(*paths: Path) -> int:
    """Return the bytes of those files that are there."""
    whole = 0
    for path in paths:
        with suppress(FileNotFoundError):
            whole += path.stat().st_size
    return whole
