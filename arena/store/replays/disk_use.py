"""The disk use of a data directory."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select

from arena.store import schema
from arena.store.base.directory import database_of
from arena.store.journal.journal import journal_of
from arena.store.replays.files import segments_of


@dataclass(frozen=True, slots=True)
class ReplayUse:
    """The disk use of one game's replays."""

    game: str
    kept: int
    pruned: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes of a data directory's files, and of the replays that are kept."""

    database: int
    journal: int
    replay_files: int
    """With what was pruned in files of which replays are left."""
    replays: tuple[ReplayUse, ...]


def disk_use(connection: Connection, directory: Path) -> DiskUse:
    """Return what a data directory takes; replays were counted as they came and went."""
    count = schema.replay_segments.c
    sums = select(count.game, *(func.sum(each) for each in (count.kept, count.pruned, count.bytes)))
    replays = tuple(ReplayUse(*row) for row in connection.execute(sums.group_by(count.game).order_by(count.game)))
    database, journal, files = database_of(directory).files, journal_of(directory), segments_of(directory)
    return DiskUse(_size(*database), _size(*journal.glob("*")), _size(*files.glob("*")), replays)


def _size(*paths: Path) -> int:
    """Return the bytes of those files that are there."""
    whole = 0
    for path in paths:
        with suppress(FileNotFoundError):
            whole += path.stat().st_size
    return whole
