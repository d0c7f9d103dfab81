"""The journal: every input of every running match, appended to a file before anything that depends on it is sent.

Lines are `match object`: the first of a match is its header, the others its inputs, as a replay has them. The lines of
a commit are a block, and before each stands `crc32 bytes`, so that a commit counts as a whole or not at all.
Appending hands the lines to the operating system, so they survive the death of the process, not that of the machine;
what a match comes to is in the database, which alone says whether a match still runs. One file is written to; an older
one goes when the matches that began in it or before are over, and at the opening running ones are copied to a new file.
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
"""Bytes after which a new file is begun."""
_DIGITS: Final = 12
"""Of the size of a block, at most."""


class Journal:
    """The journal of a data directory, open for writing."""

    def __init__(self, directory: Path, number: int, running: Collection[int]) -> None:
        """Goes on with the file of a number, in which these matches run."""
        self._directory: Final = directory
        self._number = number
        self._file = _open(_path(directory, number))
        self._size = os.fstat(self._file).st_size
        self._torn = False
        """Whether the file ends in a part of a commit that failed."""
        self._unwritten: list[str] = []
        self._began = dict.fromkeys(running, number)  # match → the file its lines begin in

    def begin(self, header: Header) -> None:
        """A match begins; its header is written at once. DiskFull or StoreUnusable: then it does not begin."""
        self._began[header.match] = self._number
        self._unwritten.append(f"{header.match} {header_line(header)}")
        try:
            self.commit()
        except StoreError:
            self._unwritten.pop()
            self.forget(header.match)
            raise

    def add(self, header: Header, event: Input) -> str:
        """An input of a running match, written with the next commit. Returns its line as a replay has it."""
        text = input_line(event, header.game)
        self._unwritten.append(f"{header.match} {text}")
        return text

    def commit(self) -> None:
        """Writes what was added. DiskFull or StoreUnusable: nothing of it is lost, and the next commit tries again."""
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
            self._turn_over()

    def forget(self, match: int) -> None:
        """A match is over and stored."""
        del self._began[match]

    def close(self) -> None:
        """Writes what was added, if it can, and closes the file."""
        try:
            self.commit()
        finally:
            os.close(self._file)

    def _turn_over(self) -> None:
        try:
            file = _open(_path(self._directory, self._number + 1))
        except StoreUnusable:
            return  # the old file goes on
        os.close(self._file)
        self._number += 1
        self._file, self._size = file, 0
        _remove(self._directory, below=min(self._began.values(), default=self._number))

    def _named(self, error: OSError) -> DiskFull | StoreUnusable:
        path = _path(self._directory, self._number)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return DiskFull(path)
        return StoreUnusable(path, error.strerror or str(error))


def open_journal(data: Path, playing: Collection[int]) -> tuple[Journal, Mapping[int, Sequence[str]]]:
    """The journal of a data directory, and what it holds of the matches that are playing: match → header and inputs.

    A damaged block, such as one that was being written when the machine died, ends its file, and for the matches before
    it what is read of them: none is put together from pieces. StoreUnusable, DiskFull.
    """
    directory = data / _DIRECTORY
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        numbers = _numbers(directory)
        found = _found(directory, numbers)
        left = {match: found[match] for match in sorted(playing) if match in found}
        number = max(numbers, default=0) + 1
        copy = directory / "copy"
        copy.touch(mode=0o600)  # the seeds of running matches are in it
        lines = [f"{match} {text}" for match, texts in left.items() for text in texts]
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


def read_journal(data: Path, match: int) -> Sequence[str]:
    """What the journal of a data directory holds of a match, beside the server that writes it; StoreUnusable.

    Empty where it holds nothing: the match is not running, or a server is just beginning a new file.
    """
    directory = data / _DIRECTORY
    try:
        return _found(directory, _numbers(directory)).get(match, ())
    except OSError as error:
        raise StoreUnusable(directory, error.strerror or str(error)) from error


def _found(directory: Path, numbers: Sequence[int]) -> dict[int, list[str]]:
    """The lines of every match in these files, oldest file first."""
    found: dict[int, list[str]] = {}
    going_on: set[int] = set()  # matches of which nothing is missing so far
    for number in numbers:
        for line in _read(_path(directory, number)):
            if line is None:
                going_on.clear()
                continue
            match, text = line
            if text.startswith(HEADER_START):
                found[match] = []
                going_on.add(match)
            if match in going_on:
                found[match].append(text)
    return found


def _block(lines: Sequence[str]) -> bytes:
    body = "\n".join(lines).encode()
    return b"%08x %d\n%b\n" % (zlib.crc32(body), len(body), body)


def _read(path: Path) -> Iterator[tuple[int, str] | None]:
    """Match and text of every line, up to a block that is damaged: None stands for that and all after it.

    Servers used to write a sum for each line: `crc32 match object`.
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
        found = [(match, text) for match, _, text in (line.partition(" ") for line in lines) if match.isdecimal()]
        if not body.endswith(b"\n") or b"%08x" % zlib.crc32(body[:-1]) != crc or len(found) < len(lines):
            yield None
            return
        for match, text in found:
            yield int(match), text


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
            with suppress(OSError):  # the next opening tries again
                _path(directory, number).unlink()
