"""Where replays are kept: in the database, in a file each, or one after the other in segments.

    python -m studies.replay_files [--replays 20000] [--together 4] [--directory DIR] [--json]

Each way stores the same replays in the same transactions, syncing as a server does; what is shown is processor time,
but for the backup, and bytes of the disk with what is lost in blocks.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

BYTES: Final = 7200
"""Of a replay, in the mean."""
SEGMENT: Final = 16 << 20
READS: Final = 5000


class Way:
    """One way of keeping them; this one is the database."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database = sqlite3.connect(directory / "arena.db", isolation_level=None)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.execute(
            "CREATE TABLE replays (id INTEGER PRIMARY KEY, content BLOB, sha256 BLOB, segment INT, start INT, size INT)"
        )
        self.prepare()

    def prepare(self) -> None:
        """Make what is beside the database."""

    def keep(self, number: int, content: bytes) -> tuple[bytes, int, int]:
        """Write a replay; return what its row holds of it: content, segment, start."""
        return content, 0, 0

    def sync(self) -> None:
        """Sync what was written, before the commit."""

    def store(self, number: int, contents: list[bytes]) -> None:
        """Store some in one transaction."""
        run = self.database.execute
        run("BEGIN IMMEDIATE")
        for each, content in enumerate(contents, number):
            row = self.keep(each, content)
            run(
                "INSERT INTO replays VALUES (?, ?, ?, ?, ?, ?)",
                (each, row[0], sha256(content).digest(), *row[1:], len(content)),
            )
        self.sync()
        run("COMMIT")

    def read(self, number: int) -> bytes:
        """Return one."""
        (content,) = self.database.execute("SELECT content FROM replays WHERE id = ?", (number,)).fetchone()
        return bytes(content)

    def back_up(self, to: Path) -> None:
        """Copy everything, with digests, synced."""
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        for path in [each for each in self.directory.rglob("*") if each.is_file()]:
            copy = to / path.relative_to(self.directory)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with path.open("rb") as source, copy.open("wb") as target:
                digest = sha256()
                while piece := source.read(1 << 20):
                    digest.update(piece)
                    target.write(piece)
                target.flush()
                os.fsync(target.fileno())


class Files(Way):
    """A file each, a thousand in a folder."""

    def prepare(self) -> None:
        """See `Way`."""
        self.written: list[Path] = []

    def _path(self, number: int) -> Path:
        return self.directory / "replays" / f"{number // 1000}" / f"{number}.gz"

    def keep(self, number: int, content: bytes) -> tuple[bytes, int, int]:
        """See `Way`."""
        path = self._path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self.written.append(path.parent)
        return b"", 0, 0

    def sync(self) -> None:
        """See `Way`."""
        for folder in {*self.written}:
            descriptor = os.open(folder, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        self.written.clear()

    def read(self, number: int) -> bytes:
        """See `Way`."""
        return self._path(number).read_bytes()


class Segments(Way):
    """One after the other, a file for each 16 MiB."""

    def prepare(self) -> None:
        """See `Way`."""
        (self.directory / "replays").mkdir()
        self.segment, self.end = 0, SEGMENT

    def keep(self, number: int, content: bytes) -> tuple[bytes, int, int]:
        """See `Way`."""
        if self.end >= SEGMENT:
            self.segment, self.end = self.segment + 1, 0
            self.file = os.open(self.directory / "replays" / f"{self.segment}.gz", os.O_WRONLY | os.O_CREAT)
        start = self.end
        self.end += os.pwrite(self.file, content, start)
        return b"", self.segment, start

    def sync(self) -> None:
        """See `Way`."""
        os.fdatasync(self.file)

    def read(self, number: int) -> bytes:
        """See `Way`."""
        query = "SELECT segment, start, size FROM replays WHERE id = ?"
        segment, start, length = self.database.execute(query, (number,)).fetchone()
        with (self.directory / "replays" / f"{segment}.gz").open("rb") as file:
            return os.pread(file.fileno(), length, start)


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return seconds of the processor and of the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - processor, time.perf_counter() - clock


def replays(count: int) -> Iterator[bytes]:
    """Yield what does not compress, of different lengths."""
    random = Random(1)
    for _ in range(count):
        yield random.randbytes(random.randrange(BYTES // 2, BYTES * 3 // 2))


def measure(kind: type[Way], directory: Path, count: int, together: int) -> dict[str, Any]:
    """Measure one way."""
    directory.mkdir()
    way, contents = kind(directory), list(replays(count))

    def store() -> None:
        for number in range(0, count, together):
            way.store(number, contents[number : number + together])

    stored, stored_clock = spent(store)
    chosen = [Random(2).randrange(count) for _ in range(READS)]
    read, _ = spent(lambda: [way.read(number) for number in chosen])
    copied, copied_clock = spent(lambda: way.back_up(directory.with_name("copy")))
    blocks = sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.name != "arena.db-wal")
    shutil.rmtree(directory)
    shutil.rmtree(directory.with_name("copy"))
    return {
        "way": kind.__name__,
        "result_us": stored / count * 1e6,
        "result_clock_us": stored_clock / count * 1e6,
        "bytes": blocks / count,
        "read_us": read / READS * 1e6,
        "backup_s": copied,
        "backup_clock_s": copied_clock,
    }


def main() -> None:
    """Measure all ways, twice in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=20_000)
    parser.add_argument("--together", type=int, default=4, help="results a transaction")
    parser.add_argument("--directory", type=Path, help="on the disk to measure")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.directory) as made:
        found = [
            measure(kind, Path(made) / "data", options.replays, options.together)
            for _ in range(2)
            for kind in (Way, Files, Segments)
        ]
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for each in found:
        print(
            f"{each['way']:9} {each['result_us']:6.0f} us a result ({each['result_clock_us']:6.0f} by the clock)"
            f" {each['bytes']:6.0f} bytes a replay {each['read_us']:5.0f} us a read"
            f" {each['backup_s']:5.2f} s of the processor and {each['backup_clock_s']:5.2f} s for a backup"
        )


if __name__ == "__main__":
    main()
