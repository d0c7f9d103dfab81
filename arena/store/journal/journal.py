# Compiled: every decision passes through here.
"""The journal: a write-ahead log of the inputs of running matches, from which a restarted server continues them.

A match is a function of its inputs (`arena.match.match`), so we store inputs and no state. Every input is written
before anything that depends on it is sent. A restarted server replays the inputs and gets the same match, with the same
clocks. The database would be too slow, because each turn would need a transaction. The journal appends text to a file,
in one write per turn.

Each line is `match object`: first the match's header, then its inputs, in the format of a replay. The lines of a commit
form a block with a checksum (`arena.store.journal.blocks`). So a commit is read back whole or not at all. Damage that
cannot be repaired makes every match that began before it unreadable. A partly written block, for example on a full
disk, is cut off before the next write.

There is no fsync for each commit. The journal must survive the end of the process, and data in the operating system's
cache does. An fsync would cost more than the whole turn. A crash of the machine may lose the last moments, and then the
matches continue from an earlier decision. Results do not depend on this: they are in the database, which is synced.
Only the database says whether a match still runs, so a finished match's lines need no end mark.

Only one file is appended to at a time. A file is deleted when all matches that began in it or earlier are over. A match
that is still running two files later counts as long. Its lines are copied, so that the old file can be deleted
(`_Copy`). Opening the journal copies the running matches to a new file.

Each further node on a data directory has its own journal, in a subfolder named after its number. If a node is not
started again, the first node takes over its matches by copying their lines. It is ugly that two journals may then
contain the same match. The journal with more of its lines is the later one, because lines are only added.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple

from arena.match.inputs import Input
from arena.replay.header import Header
from arena.replay.lines import HEADER_START, header_line, input_line
from arena.store.base.directory import write_synced
from arena.store.base.errors import StoreError, StoreReplaced, StoreUnusable, file_error, file_errors
from arena.store.journal.blocks import Damage, block_length, encode_block, frame, read_blocks, select_lines

_DIRECTORY: Final = "journal"
"""The journal's folder in the data directory."""
_COPY: Final = "copy"
"""Name of a file that is not complete yet."""
FULL: Final = 32 << 20
"""Size in bytes at which a new file is started."""
_COPYING_TURNS: Final = 512
"""Number of turns over which a full file is copied: 64 KiB per turn."""
_LEAST_COPIED: Final = 1024
"""Minimum number of bytes of a file that one turn copies."""
_READS: Final = 10
"""Maximum number of attempts to read a journal while its files are being removed."""
_LARGEST_BLOCK: Final = 1 << 16
"""Number of characters after which a copied match continues in another block."""


class JournalContent(NamedTuple):
    """The content of a journal's files."""

    lines: Mapping[int, Sequence[str]]
    """For every match whose lines can be read without a gap, the header followed by the inputs."""
    damaged: frozenset[int]
    """The matches that may lack lines, because a part of a file is damaged."""


class Journal:
    """The journal of a data directory, open for writing."""

    def __init__(self, directory: Path, number: int, running: Collection[int], full: int = FULL) -> None:
        """Append to the file with the given number, which already contains the lines of the matches `running`.

        When a file has reached `full` bytes, a new file is started.
        """
        self._directory: Final = directory
        self._full: Final = full
        self._number = number
        self._file = _open(_path(directory, number))
        self._size = os.fstat(self._file).st_size
        self._torn = False
        """True if the file ends with a partly written block, which must be cut off before the next write."""
        self._unwritten: list[str] = []
        self._copy: _Copy | None = None
        self._copied = self._size
        """Number of bytes in the newest copy of long matches' lines."""
        self._first_file = dict.fromkeys(running, number)  # By match, the number of the file with the match's header.

    def begin(self, header: Header) -> None:
        """Write the header of a new match at once. Raises: DiskFull, StoreUnusable: No part of the match is stored."""
        self._first_file[header.match_id] = self._number
        self._unwritten.append(f"{header.match_id} {header_line(header)}")
        try:
            self.commit()
        except StoreError:
            self._unwritten.pop()
            self.forget(header.match_id)
            raise

    def add(self, header: Header, event: Input) -> str:
        """Add an input of a running match to the next commit. Return the input's line in the format of a replay."""
        text = input_line(event, header.game)
        self._unwritten.append(f"{header.match_id} {text}")
        return text

    def commit(self) -> None:
        """Write the lines added since the last commit. Raises: DiskFull, StoreUnusable: The next commit tries again."""
        if not self._unwritten:
            return
        content = encode_block(self._unwritten)
        try:
            if self._torn:
                os.ftruncate(self._file, self._size)
            written = os.write(self._file, content)
            self._torn = written < len(content)
            if self._torn:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise file_error(_path(self._directory, self._number), error) from error
        self._size += written
        self._unwritten.clear()
        if self._copy is not None:
            # A turn that writes more also copies more, so that a copy is complete before the next file is full.
            self._copy_on(self._copy, max(self._full // _COPYING_TURNS, _LEAST_COPIED) + 2 * written)
        if self._size >= self._full:
            self._start_next_file()

    def forget(self, match_id: int) -> None:
        """Release the lines of a match whose result is stored in the database."""
        del self._first_file[match_id]

    def check(self) -> None:
        """Check that the file was not deleted or replaced since it was opened. Raises: StoreReplaced."""
        path = _path(self._directory, self._number)
        with suppress(OSError):
            if os.path.samestat(path.stat(), os.fstat(self._file)):
                return
        raise StoreReplaced(path)

    def close(self) -> None:
        """Commit and close the file, even if the commit fails."""
        try:
            self.commit()
        finally:
            os.close(self._file)
            if self._copy is not None:
                self._copy.close()

    def _start_next_file(self) -> None:
        try:
            file = _open(_path(self._directory, self._number + 1))
        except StoreUnusable:
            return  # Continue to use the old file.
        os.close(self._file)
        self._number += 1
        self._file, self._size = file, 0
        if self._copy is None:
            self._remove_unneeded()
            self._start_copy(self._number - 2)

    def _remove_unneeded(self) -> None:
        _remove(self._directory, below=min(self._first_file.values(), default=self._number))

    def _start_copy(self, through: int) -> None:
        """Start copying the lines of matches that began in files numbered up to `through`, if that saves space."""
        long = [match_id for match_id, first in self._first_file.items() if first <= through]
        if not long:
            self._copied = 0
            return
        numbers = [number for number in _numbers(self._directory) if number <= through]
        with suppress(OSError):  # The files stay until the next one is full.
            # Every copy repeats the previous one, so copying pays only if other lines outweigh it.
            if sum(_path(self._directory, number).stat().st_size for number in numbers) > 2 * self._copied:
                self._copy = _Copy(self._directory, numbers, long)

    def _copy_on(self, copy: _Copy, amount: int) -> None:
        if not copy.proceed(amount):
            return
        copy.close()
        self._copy = None
        if copy.replaced:
            self._copied = copy.size
            for match_id, first in self._first_file.items():
                self._first_file[match_id] = max(first, copy.number)
        self._remove_unneeded()


class _Copy:
    """A copy of the lines of long matches from a journal's oldest files, which then replaces these files.

    Copying takes many turns, each of which reads a limited part of the files. A thread then syncs the copy, since the
    originals may have been on disk for a long time. It renames the copy to the newest original. A header starts a
    match anew, so at any moment the files contain every line once. If the disk is full or an original is damaged, the
    originals stay.
    """

    def __init__(self, directory: Path, numbers: Sequence[int], matches: Sequence[int]) -> None:
        """Start a copy of these matches' lines from the files with these numbers. Raises: OSError."""
        self.number: Final = numbers[-1]
        """Number of the newest file that the copy replaces. It replaces all older files, too."""
        self.size = 0
        """Number of bytes copied so far."""
        self.replaced = False
        """True once the copy has replaced its originals."""
        self._directory: Final = directory
        self._originals: Final = [*numbers]
        self._wanted: Final = frozenset(str(match_id).encode() for match_id in matches)
        self._original = -1
        self._at = 0
        self._syncing: Thread | None = None
        self._path: Final = directory / _COPY
        self._file: Final = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def proceed(self, amount: int) -> bool:
        """Copy the lines in the next `amount` bytes or in one longer block. Return whether copying ended or failed."""
        if self._syncing is not None:
            return not self._syncing.is_alive()
        try:
            if self._copy_some(amount):
                self._syncing = Thread(target=self._replace, name="journal", daemon=True)
                self._syncing.start()
        except (OSError, RuntimeError):  # RuntimeError: The system cannot start another thread.
            self._syncing = None
            return True
        return False

    def close(self) -> None:
        """Release the files. Remove the copy unless it has replaced its originals."""
        if self._syncing is not None:
            self._syncing.join()
        if self._original >= 0:
            os.close(self._original)
        os.close(self._file)
        if not self.replaced:
            with suppress(OSError):
                self._path.unlink()

    def _copy_some(self, amount: int) -> bool:
        """Copy some lines; return whether all are copied. Raises: OSError."""
        if self._original < 0:
            if not self._originals:
                return True
            self._original, self._at = os.open(_path(self._directory, self._originals.pop(0)), os.O_RDONLY), 0
        content = os.pread(self._original, amount, self._at)
        if not content:
            os.close(self._original)
            self._original = -1
            return False
        lines, length = select_lines(content, self._wanted)
        if not length:
            lines, length = select_lines(os.pread(self._original, block_length(content), self._at), self._wanted)
        if not length:
            raise OSError(errno.EIO, "a block is damaged")
        self._at += length
        if lines:
            block = frame(b"\n".join(lines))
            if os.write(self._file, block) < len(block):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.size += len(block)
        return False

    def _replace(self) -> None:
        with suppress(OSError):
            os.fsync(self._file)
            self._path.replace(_path(self._directory, self.number))
            self.replaced = True
            _remove(self._directory, below=self.number)


def open_journal(
    data: Path,
    playing: Collection[int],
    check: Callable[[JournalContent], None] = lambda _: None,
    *,
    full: int = FULL,
    node: int | None = None,
) -> tuple[Journal, JournalContent]:
    """Open the journal of a data directory. Return it with its content for the matches `playing`.

    `check` is called with that content before any change, and may raise any error. When a file has reached `full`
    bytes, a new file is started. `node`: the number of the node whose journal it is. Lines of its matches in journals
    of other nodes stay as they are. Without `node`, the journals of all nodes are removed.

    Raises: StoreUnusable, DiskFull.
    """
    # The first node uses the same folder as a server without other nodes.
    directory = data / _DIRECTORY if node in (None, 1) else data / _DIRECTORY / str(node)
    with file_errors(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines, has_damage = _all_lines(data / _DIRECTORY)
        left = {match_id: lines[match_id] for match_id in sorted(playing) if match_id in lines}
        # A damaged part may have contained all lines of a match.
        content = JournalContent(left, frozenset(playing).difference(left) if has_damage else frozenset())
        check(content)
        number = max(_numbers(directory), default=0) + 1
        _write(directory, number, left)
    _remove(directory, below=number)
    if node is None:
        for further in _further(directory):
            shutil.rmtree(further, ignore_errors=True)
    return Journal(directory, number, left, full), content


def journal_numbers(data: Path) -> frozenset[int]:
    """Return the numbers of the nodes other than the first that have a journal in a data directory."""
    return frozenset(int(path.name) for path in _further(data / _DIRECTORY))


def remove_further_journal(data: Path, node: int) -> None:
    """Remove the journal of a node other than the first.

    Each of its matches must have ended or be in another journal. Raises: StoreUnusable.
    """
    directory = data / _DIRECTORY / str(node)
    with file_errors(directory):
        if directory.exists():
            shutil.rmtree(directory)


def read_journal(data: Path, match_id: int) -> Sequence[str]:
    """Return the journal's lines of a match, even while a server writes the journal. Raises: StoreUnusable.

    The result is empty if the match is not running or its lines are damaged, or if a server is just starting a new
    file.
    """
    return read_running(data, (match_id,)).get(match_id, ())


def read_running(data: Path, playing: Collection[int]) -> Mapping[int, Sequence[str]]:
    """Return the readable lines of the matches `playing`, even while a server writes the journal.

    Raises: StoreUnusable.
    """
    directory = data / _DIRECTORY
    with file_errors(directory):
        lines, _ = _all_lines(directory)
    return {match_id: lines[match_id] for match_id in playing if match_id in lines}


def write_journal(data: Path, lines: Mapping[int, Sequence[str]]) -> None:
    """Create a journal with lines of running matches in a data directory without a journal.

    Raises: DiskFull, StoreUnusable.
    """
    directory = data / _DIRECTORY
    with file_errors(directory):
        directory.mkdir(mode=0o700)
        _write(directory, 1, lines)


def journal_files(data: Path) -> frozenset[tuple[int, int]]:
    """Return the numbers of a journal's files with their inodes. A new inode shows that a copy replaced the file."""
    found: set[tuple[int, int]] = set()
    for number in _numbers(data / _DIRECTORY):
        with suppress(FileNotFoundError):
            found.add((number, _path(data / _DIRECTORY, number).stat().st_ino))
    return frozenset(found)


def journal_of(data: Path) -> Path:
    """Return the journal's folder in a data directory."""
    return data / _DIRECTORY


def _further(directory: Path) -> list[Path]:
    """Return the journal folders of nodes other than the first."""
    return [path for path in directory.glob("*") if path.name.isdecimal() and path.is_dir()]


def _all_lines(directory: Path) -> tuple[dict[int, Sequence[str]], bool]:
    """Return the lines of each match from the node's journal that contains most of them.

    Also return True if a part of a journal is damaged.
    """
    first, has_damage = _present_content(directory)
    lines = dict(first.lines)
    for each in _further(directory):
        content, damage = _present_content(each)
        has_damage |= damage
        for match_id, texts in content.lines.items():
            if match_id not in first.damaged and len(texts) > len(lines.get(match_id, ())):
                lines[match_id] = texts
    return lines, has_damage


def _present_content(directory: Path) -> tuple[JournalContent, bool]:
    """Return the content of a journal while another process may write it and remove its oldest files."""
    for _ in range(_READS):
        with suppress(FileNotFoundError):
            return _content(directory, _numbers(directory))
    return _content(directory, _numbers(directory))


def _content(directory: Path, numbers: Sequence[int]) -> tuple[JournalContent, bool]:
    """Return the lines of every match in these files, oldest file first, and True if a part of a file is damaged."""
    lines: dict[int, list[str]] = {}
    damaged: set[int] = set()
    has_damage = False
    for number in numbers:
        for found in read_blocks(_path(directory, number).read_bytes(), newest=number == numbers[-1]):
            if isinstance(found, Damage):
                damaged |= lines.keys()
                has_damage = True
                continue
            match_id, text = found
            if text.startswith(HEADER_START):
                lines[match_id] = []
                damaged.discard(match_id)
            if match_id in lines:
                lines[match_id].append(text)
    sound = {match_id: texts for match_id, texts in lines.items() if match_id not in damaged}
    return JournalContent(sound, frozenset(damaged)), has_damage


def _write(directory: Path, number: int, lines: Mapping[int, Sequence[str]]) -> None:
    """Write lines of matches to the file with the given number, completely or not at all.

    Raises: DiskFull, StoreUnusable.
    """
    copy, path = directory / _COPY, _path(directory, number)
    blocks = [
        encode_block(part)
        for match_id, each in lines.items()
        for part in _parts([f"{match_id} {text}" for text in each])
    ]
    with file_errors(path):
        write_synced(copy, b"".join(blocks))
        copy.replace(path)


def _parts(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Divide lines into parts of bounded size."""
    part: list[str] = []
    size = 0
    for line in lines:
        part.append(line)
        size += len(line)
        if size >= _LARGEST_BLOCK:
            yield part
            part, size = [], 0
    if part:
        yield part


def _numbers(directory: Path) -> list[int]:
    return sorted(int(path.stem) for path in directory.glob("*.log") if path.stem.isdecimal())


def _path(directory: Path, number: int) -> Path:
    return directory / f"{number:08}.log"


def _open(path: Path) -> int:
    with file_errors(path):
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _remove(directory: Path, below: int) -> None:
    for number in _numbers(directory):
        if number < below:
            with suppress(OSError):  # `open_journal` tries again.
                _path(directory, number).unlink()
