"""The journal: a write-ahead log of the inputs of running matches, from which a restarted server continues them.

Every input is written before anything that depends on it is sent. Lines are `match object`: first the match's header,
then its inputs, in the format of a replay. The lines of a commit form a block that begins with `crc32 bytes`, so a
commit is read back whole or not at all. There is no fsync per commit: lines survive the end of the process, but perhaps
not a crash of the machine. Whether a match still runs is in the database only.

One file is appended to at a time. A file is deleted when all matches that began in it or earlier are over; opening the
journal copies the running matches to a new file.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.match.inputs import Input
from arena.replay.header import Header
from arena.replay.lines import HEADER_START, header_line, input_line
from arena.store.errors import DiskFull, StoreError, StoreUnusable

_DIRECTORY: Final = "journal"
_FULL: Final = 64 << 20
"""Bytes after which a new file is started."""
_DIGITS: Final = 12
"""Digits of a block's size, at most."""


class Journal:
    """The journal of a data directory, open for writing."""

    def __init__(self, directory: Path, number: int, running: Collection[int]) -> None:
        """Append to the file with this number; it already holds the lines of the matches `running`."""
        self._directory: Final = directory
        self._number = number
        self._file = _open(_path(directory, number))
        self._size = os.fstat(self._file).st_size
        self._torn = False
        """Whether the file ends with a partly written block, to be cut off before the next write."""
        self._unwritten: list[str] = []
        self._first_file = dict.fromkeys(running, number)  # match → number of the file with its header

    def begin(self, header: Header) -> None:
        """Write the header of a new match at once. DiskFull, StoreUnusable: nothing is kept of the match."""
        self._first_file[header.match_id] = self._number
        self._unwritten.append(f"{header.match_id} {header_line(header)}")
        try:
            self.commit()
        except StoreError:
            self._unwritten.pop()
            self.forget(header.match_id)
            raise

    def add(self, header: Header, event: Input) -> str:
        """Add an input of a running match to the next commit; return its line in the format of a replay."""
        text = input_line(event, header.game)
        self._unwritten.append(f"{header.match_id} {text}")
        return text

    def commit(self) -> None:
        """Write the lines added since the last commit. DiskFull, StoreUnusable: they are kept for the next commit."""
        if not self._unwritten:
            return
        content = _block(self._unwritten)
        try:
            if self._torn:
                os.ftruncate(self._file, self._size)
            written = os.write(self._file, content)
            self._torn = written < len(content)
            if self._torn:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise self._named(error) from error
        self._size += written
        self._unwritten.clear()
        if self._size >= _FULL:
            self._start_next_file()

    def forget(self, match_id: int) -> None:
        """Release the lines of a match that is over and stored in the database."""
        del self._first_file[match_id]

    def close(self) -> None:
        """Commit and close the file, even if the commit fails."""
        try:
            self.commit()
        finally:
            os.close(self._file)

    def _start_next_file(self) -> None:
        try:
            file = _open(_path(self._directory, self._number + 1))
        except StoreUnusable:
            return  # keep appending to the old file
        os.close(self._file)
        self._number += 1
        self._file, self._size = file, 0
        _remove(self._directory, below=min(self._first_file.values(), default=self._number))

    def _named(self, error: OSError) -> DiskFull | StoreUnusable:
        path = _path(self._directory, self._number)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return DiskFull(path)
        return StoreUnusable(path, error.strerror or str(error))


def open_journal(data: Path, playing: Collection[int]) -> tuple[Journal, Mapping[int, Sequence[str]]]:
    """Open the journal of a data directory; also return the lines of the matches `playing`: match → header, inputs.

    Reading a file stops at a damaged block, such as one only partly written when the machine crashed; later lines of
    the matches before it are ignored, so no match is read with a gap. StoreUnusable, DiskFull.
    """
    directory = data / _DIRECTORY
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        numbers = _numbers(directory)
        found = _found(directory, numbers)
        left = {match_id: found[match_id] for match_id in sorted(playing) if match_id in found}
        number = max(numbers, default=0) + 1
        copy = directory / "copy"
        copy.touch(mode=0o600)  # the seeds of running matches are in it
        lines = [f"{match_id} {text}" for match_id, texts in left.items() for text in texts]
        copy.write_bytes(_block(lines) if lines else b"")
        with copy.open("rb") as file:
            os.fsync(file.fileno())
        copy.replace(_path(directory, number))
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiskFull(directory) from error
        raise StoreUnusable(directory, error.strerror or str(error)) from error
    _remove(directory, below=number)
    return Journal(directory, number, left), left


def read_journal(data: Path, match_id: int) -> Sequence[str]:
    """Return the journal's lines of a match, even while a server writes it; StoreUnusable.

    Empty if the match is not running, or in the moment when a server starts a new file.
    """
    directory = data / _DIRECTORY
    try:
        return _found(directory, _numbers(directory)).get(match_id, ())
    except OSError as error:
        raise StoreUnusable(directory, error.strerror or str(error)) from error


def _found(directory: Path, numbers: Sequence[int]) -> dict[int, list[str]]:
    """Return the lines of every match in these files, oldest file first."""
    found: dict[int, list[str]] = {}
    complete: set[int] = set()  # matches with no line missing so far
    for number in numbers:
        for line in _read(_path(directory, number)):
            if line is None:
                complete.clear()
                continue
            match_id, text = line
            if text.startswith(HEADER_START):
                found[match_id] = []
                complete.add(match_id)
            if match_id in complete:
                found[match_id].append(text)
    return found


def _block(lines: Sequence[str]) -> bytes:
    body = "\n".join(lines).encode()
    return b"%08x %d\n%b\n" % (zlib.crc32(body), len(body), body)


def _read(path: Path) -> Iterator[tuple[int, str] | None]:
    """Yield match and text of every line; None for a damaged block, which ends the file.

    Also reads the older format with a checksum for each line: `crc32 match object`.
    """
    content, at = path.read_bytes(), 0
    while at < len(content):
        end = content.find(b"\n", at) + 1 or len(content)
        crc, _, body = content[at:end].partition(b" ")
        at = end
        if (size := body[:-1]).isdigit() and len(size) <= _DIGITS:
            at += int(size) + 1
            body = content[end:at]
        lines = body[:-1].decode(errors="replace").split("\n")
        found = [
            (match_id, text) for match_id, _, text in (line.partition(" ") for line in lines) if match_id.isdecimal()
        ]
        if not body.endswith(b"\n") or b"%08x" % zlib.crc32(body[:-1]) != crc or len(found) < len(lines):
            yield None
            return
        for match_id, text in found:
            yield int(match_id), text


def _numbers(directory: Path) -> list[int]:
    return sorted(int(path.stem) for path in directory.glob("*.log") if path.stem.isdecimal())


def _path(directory: Path, number: int) -> Path:
    return directory / f"{number:08}.log"


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnusable(path, error.strerror or str(error)) from error


def _remove(directory: Path, below: int) -> None:
    for number in _numbers(directory):
        if number < below:
            with suppress(OSError):  # `open_journal` tries again
                _path(directory, number).unlink()
