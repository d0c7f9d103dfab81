"""Backups of a data directory, even while a server is running, and their restoration.

A backup is a directory with the files of a data directory, all as of one moment. Its `backup.json` lists each file with
size and SHA-256. A backup is written under a temporary name, and renamed once it is complete and synced. A restored
data directory is created in the same way. So an unfinished directory never has the requested name.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, func, select

from arena.log.leaf import LeafKind
from arena.store import schema
from arena.store.base import leaves as log
from arena.store.base.directory import (
    database_of,
    require_empty,
    sync_directory,
    token_file,
    use_server,
    write_synced,
)
from arena.store.base.errors import BackupUnusable, PathTaken, StoreUnusable, file_errors
from arena.store.base.migrate import check_revision, copy_rows, migrate
from arena.store.journal.journal import journal_files, journal_of, read_running, write_journal
from arena.store.log.key import key_file, next_key_file
from arena.store.matches import matches
from arena.store.opening import open_readonly, store_errors
from arena.store.replays.files import attach, segments_of
from arena.store.replays.replays import copy_into_rows
from arena.version import __version__

MANIFEST: Final = "backup.json"
UNFINISHED: Final = ".unfinished-"
"""Part of the temporary name of an unfinished directory. An interruption may leave such a directory behind."""
_FORMAT: Final = 1
_PIECE: Final = 1 << 20
"""Number of bytes copied in one step."""
Progress: TypeAlias = Callable[[int, int], None]
"""Progress callback, called with the number of bytes or pages copied so far, and the total number."""


class BackupFile(NamedTuple):
    """A file of a backup."""

    path: str
    """Path relative to the backup."""
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup, as described by `backup.json`."""

    arena_backup: int
    """Version of the file format."""
    at: int
    """Time at which the backup was started, in microseconds since 1970."""
    server: str
    """Version of the program that created the backup."""
    schema: str
    """Revision of the database schema."""
    matches: int
    """Number of finished matches in the backup."""
    running: int
    """Number of matches that were running. A server that starts on the restored data continues them."""
    replays: int
    files: tuple[BackupFile, ...]

    @property
    def bytes(self) -> int:
        """Total size of all files."""
        return sum(file.bytes for file in self.files)


def back_up(data: Path, to: Path, at: int, progress: Progress = lambda done, whole: None) -> Backup:
    """Make a backup of a data directory, which a server may be using.

    `at`: now, in microseconds since 1970. After an error, nothing is left at `to`. Raises: PathTaken, DiskFull,
    StoreUnusable and the errors of `open_readonly`.
    """
    with _made(to) as directory:
        made = _copied(data, directory, at, progress)
        write_synced(directory / MANIFEST, json.dumps(asdict(made)).encode())
    return made


def thin_out(newest: Path, keep: int) -> list[Path]:
    """Delete the oldest backups in the folder of `newest` until `keep` are left. Return the paths of the deleted ones.

    Only complete backups count. Raises: StoreUnusable: A backup cannot be deleted.
    """
    others = []
    for path in newest.absolute().parent.iterdir():
        if path.name != newest.name:  # Never delete the newest backup, even if the clock was set back.
            with suppress(BackupUnusable):
                others.append((read_manifest(path).at, path))
    old = [path for _, path in sorted(others)[: max(0, len(others) + 1 - keep)]]
    for path in old:
        unfinished = path.with_name(f"{path.name}{UNFINISHED}deleted")
        with file_errors(path):
            path.rename(unfinished)
            shutil.rmtree(unfinished)
    return old


def restore(
    backup: Path,
    data: Path,
    at: int,
    progress: Progress = lambda done, whole: None,
    store: str | None = None,
) -> Backup:
    """Make a data directory from a backup, checking every byte, and add a log leaf that records the restoration.

    `at`: now, in microseconds since 1970. `store`: the address of an empty PostgreSQL database for the results. After
    an error, nothing is left at `data`. Raises: PathTaken, BackupUnusable, StoreNewer, StoreTooOld, DiskFull,
    StoreUnusable, ServerUnusable.
    """
    made = read_manifest(backup)
    check_revision(backup, made.schema)
    if store is not None:
        require_empty(store)
    with _made(data) as directory:
        done = 0
        for file in made.files:
            try:
                source = (backup / file.path).open("rb")
            except OSError as error:
                raise BackupUnusable(backup, f"{file.path}: {error.strerror}") from error
            target, digest = directory / file.path, sha256()
            target.parent.mkdir(mode=0o700, exist_ok=True)
            target.touch(mode=0o600)
            with source, target.open("wb") as copy:
                while piece := source.read(_PIECE):
                    digest.update(piece)
                    copy.write(piece)
                    done += len(piece)
                    progress(done, made.bytes)
                copy.flush()
                os.fsync(copy.fileno())
            if digest.hexdigest() != file.sha256:
                raise BackupUnusable(backup, f"{file.path} is damaged: its SHA-256 does not agree")
        _log_the_cut(directory, at)
        if store is not None:
            _move_to_server(directory, store, progress)
    return made


def _move_to_server(directory: Path, store: str, progress: Progress) -> None:
    """Move the results of a data directory to an empty PostgreSQL database."""
    own = database_of(directory)
    with open_readonly(directory) as connection, tempfile.TemporaryDirectory(dir=directory) as named:
        use_server(Path(named), store)
        there = database_of(Path(named))
        with store_errors(there), there.writing(beside=False).connect() as target, target.begin():
            migrate(target, there)
            copy_rows(connection, target, progress)
            copy_into_rows(connection, target)
    for path in own.files:
        path.unlink(missing_ok=True)
    shutil.rmtree(segments_of(directory), ignore_errors=True)
    use_server(directory, store)


def _log_the_cut(directory: Path, at: int) -> None:
    """Add the leaf that records a restoration."""
    database = database_of(directory)
    with database.locked(), database.writing().connect() as connection, connection.begin():
        migrate(connection, database)
        leaves = log.size(connection)
        log.append(connection, LeafKind.RESTORE, at, size=leaves, root=log.root_of(connection, leaves).hex())


def read_manifest(backup: Path) -> Backup:
    """Return the description of a backup. Raises: BackupUnusable."""
    if UNFINISHED in backup.name:
        raise BackupUnusable(backup, "it is unfinished: making it was cut short, or goes on; it can be deleted then")
    try:
        values = json.loads((backup / MANIFEST).read_bytes())
        version = values["arena_backup"]
        if version != _FORMAT:
            raise BackupUnusable(backup, f"its format is {version!r}, and this program knows {_FORMAT}; upgrade it")
        files = tuple(BackupFile(str(path), int(size), str(digest)) for path, size, digest in values.pop("files"))
        made = Backup(**values, files=files)
    except FileNotFoundError:
        raise BackupUnusable(backup, f"it has no {MANIFEST}") from None
    except OSError as error:
        raise BackupUnusable(backup, error.strerror or str(error)) from error
    except (ValueError, TypeError, KeyError) as error:
        raise BackupUnusable(backup, f"its {MANIFEST} is damaged ({error})") from error
    for file in made.files:
        if Path(file.path).is_absolute() or ".." in Path(file.path).parts:
            raise BackupUnusable(backup, f"its {MANIFEST} names {file.path}, which is outside of it")
    return made


def _copied(data: Path, directory: Path, at: int, progress: Progress) -> Backup:
    """Copy a data directory as of one moment."""
    lost = frozenset[Path]()
    while True:
        files = journal_files(data)
        with open_readonly(data) as connection:  # From here on, this transaction sees an unchanged database.
            found = frozenset(each.path for each in attach(connection, data).segments(connection) if not each.whole)
            # These replays were pruned just now, or are lost. Only the lost ones are missing at the next attempt, too.
            if not found <= lost:
                lost = found
                continue
            playing = matches.playing(connection)
            try:
                lines = read_running(data, playing)
            except StoreUnusable as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise
                continue
            if not files <= journal_files(data):
                # A deleted file may have contained lines of a match that is still running as this transaction sees it.
                continue
            write_journal(directory, lines)
            try:
                _copy_replays(connection, data, directory, lost)
            except FileNotFoundError:  # The replay has been pruned meanwhile.
                shutil.rmtree(journal_of(directory))
                shutil.rmtree(segments_of(directory))
                continue
            database_of(data).copy(connection, database_of(directory), progress)
            count = select(func.count()).select_from(schema.matches).where(schema.matches.c.state == "finished")
            finished = connection.scalar(count) or 0
            replays = connection.scalar(select(func.sum(schema.replay_segments.c.kept))) or 0
        break
    for secret in (token_file, key_file, next_key_file):
        if secret(data).exists():
            write_synced(secret(directory), secret(data).read_bytes())
    described = tuple(_described(directory, path) for path in sorted(directory.rglob("*")) if path.is_file())
    return Backup(_FORMAT, at, __version__, schema.REVISION, finished, len(lines), replays, described)


def _copy_replays(connection: Connection, data: Path, directory: Path, lost: Collection[Path]) -> None:
    """Copy the parts of replay files that rows refer to, the oldest files first, because these are pruned first.

    Only the readable part of the files in `lost` is copied. Raises: FileNotFoundError.
    """
    segments_of(directory).mkdir(mode=0o700)
    for segment in attach(connection, data).segments(connection):
        try:
            source = segment.path.open("rb")
        except OSError:
            if segment.path in lost:
                continue
            raise
        copy = segments_of(directory) / segment.path.name
        copy.touch(mode=0o600)
        with source, copy.open("wb") as target:
            left = segment.size
            while left and (piece := source.read(min(left, _PIECE))):
                target.write(piece)
                left -= len(piece)


def _described(directory: Path, path: Path) -> BackupFile:
    """Sync a file and describe it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = file_digest(file, "sha256").hexdigest()
        return BackupFile(str(path.relative_to(directory)), file.tell(), digest)


@contextmanager
def _made(path: Path) -> Iterator[Path]:
    """Yield a new directory. It gets its final name if the `with` block succeeds, and is removed otherwise."""
    with file_errors(path):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise PathTaken(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix=f"{path.name}{UNFINISHED}", dir=path.parent))  # Only for its owner.
        try:
            yield directory
            for each in (*(child for child in directory.rglob("*") if child.is_dir()), directory):
                sync_directory(each)
            with suppress(FileNotFoundError):
                path.rmdir()  # Remove the directory if it is empty. Otherwise renaming fails.
            if path.exists():
                raise PathTaken(path)
            directory.rename(path)
            sync_directory(path.parent)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
