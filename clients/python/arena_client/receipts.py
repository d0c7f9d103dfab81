"""A bot's record of the log of results: the server's key and newest head, and a receipt for each match.

A file of JSON lines beside the token; docs/log.md describes it. `arena replay verify --receipts` reads it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from arena_client.merkle import fields, included
from arena_client.tokens import replace_private
from arena_client.v1.log_pb2 import LogHead, LogState
from arena_client.v1.play_pb2 import MatchReport

_log = logging.getLogger("arena_client")

KEPT = 1000
"""Number of receipts, the newest ones, that remain in a shortened file. A file of twice as many lines is shortened."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Facts about a match that a bot knows from its start."""

    seat: int
    nonce: bytes
    """The bot's random bytes for the deal; empty if an earlier run of the program sent them."""
    salt: bytes
    commitment: bytes


@dataclass(slots=True)
class Pin:
    """The known state of a server's log."""

    keys: list[bytes]
    """The leaves that name the log's keys."""
    restores: list[bytes]
    """The leaves of the known restorations of the log."""
    head: LogHead
    """The newest head that has been proved to continue the previous head."""


@dataclass(slots=True)
class Receipts:
    """The receipts of one bot at one server."""

    file: Path | None
    """Path of the file; None to store nothing on disk."""
    pin: Pin | None = None
    heads: list[LogHead] = field(default_factory=list)
    """Heads from the receipts, oldest first."""
    matches: list[tuple[int, int]] = field(default_factory=list)
    """Leaf number and match of each receipt."""
    reports_after: int | None = None
    """The number of the last report's leaf, or the log's size before the first report; None if both are unknown."""
    _lines: int = 0
    _read: bool = False
    _troubled: bool = False

    def read(self) -> None:
        """Read the file once. Ignore an unreadable file, with a warning."""
        if self._read or self.file is None:
            return
        self._read = True
        try:
            for line in self._whole_lines(self.file.read_bytes()).decode().splitlines():
                self._lines += 1
                self._remember(json.loads(line))
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._warn(error)

    def _whole_lines(self, content: bytes) -> bytes:
        """Return the content of a file without an unfinished last line, and remove this line from the file."""
        assert self.file is not None, "the caller has read it"
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.file, len(whole))
            _log.warning("the last line of %s was not finished, and is left out", self.file)
        return whole

    def latest(self, most: float = math.inf) -> LogHead | None:
        """Return the head of the largest known log with at most `most` leaves."""
        known = [*self.heads, *([] if self.pin is None else [self.pin.head])]
        return max((head for head in known if head.size <= most), key=lambda head: head.size, default=None)

    def pin_to(self, state: LogState, cut: int | None = None) -> None:
        """Store a server's keys, restorations and head.

        `cut`: the number of known leaves that remained after a restoration; None without a restoration.
        """
        if cut is not None:
            self._forget(cut)
        self.pin = Pin([*state.keys], [each.leaf for each in state.restores], state.head)
        self._pinned(state.head.size)
        line: dict[str, Any] = {
            "arena_receipts": 1,
            "keys": [leaf.decode() for leaf in self.pin.keys],
            "restores": [leaf.decode() for leaf in self.pin.restores],
            "head": _head(state.head),
        }
        self._add(line | ({} if cut is None else {"cut": cut}))

    def take(self, report: MatchReport, seat: Seat | None) -> None:
        """Check a report's log entry, and store the entry."""
        entry = report.entry
        self.read()
        if (problem := _problem(report)) is not None:
            _log.error(
                "match %d: the server's log of results does not bear out its report: %s", report.match_id, problem
            )
        self.heads.append(entry.head)
        self.matches.append((entry.number, report.match_id))
        self.reports_after = entry.number
        line: dict[str, Any] = {"match": report.match_id, "seat": report.seat}
        if seat is not None:
            line |= {"nonce": seat.nonce.hex(), "salt": seat.salt.hex(), "commitment": seat.commitment.hex()}
        line |= {
            "number": entry.number,
            "leaf": entry.leaf.decode("utf-8", "replace"),
            "head": _head(entry.head),
            "proof": [each.hex() for each in entry.proof],
        }
        self._add(line)

    def _remember(self, line: Mapping[str, Any]) -> None:
        head = line["head"]
        known = LogHead(size=head["size"], root=bytes.fromhex(head["root"]), signature=bytes.fromhex(head["signature"]))
        if "keys" in line:
            if "cut" in line:
                self._forget(line["cut"])
            self.pin = Pin(
                [each.encode() for each in line["keys"]], [each.encode() for each in line["restores"]], known
            )
            self._pinned(known.size)
        else:
            self.heads.append(known)
            self.matches.append((line["number"], line["match"]))
            self.reports_after = line["number"]

    def _pinned(self, size: int) -> None:
        if self.reports_after is None:
            self.reports_after = size

    def _forget(self, cut: int) -> None:
        """Ignore entries beyond a cut from now on. They stay in the file."""
        self.heads = [head for head in self.heads if head.size <= cut]
        self.matches = [(number, match) for number, match in self.matches if number <= cut]

    def _add(self, line: Mapping[str, Any]) -> None:
        del self.heads[:-KEPT], self.matches[:-KEPT]
        if self.file is None:
            return
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._lines >= 2 * KEPT:
                with contextlib.suppress(OSError):  # Windows cannot replace an open file; the next line retries
                    self._shorten()
            with open(self.file, "ab", buffering=0, opener=_private) as file:
                _write_whole(file, text.encode())
            self._lines += 1
        except OSError as error:
            self._warn(error)

    def _shorten(self) -> None:
        """Remove all lines except the newest receipts and the newest pin before them."""
        assert self.file is not None, "the caller has checked"
        lines = self.file.read_bytes().splitlines(keepends=True)
        pins = [line for line in lines if line.startswith(b'{"arena_receipts"')]
        kept = [*pins[-1:], *[line for line in lines if not line.startswith(b'{"arena_receipts"')][-KEPT:]]
        replace_private(self.file, b"".join(kept))
        self._lines = len(kept)

    def _warn(self, error: Exception) -> None:
        if not self._troubled:
            self._troubled = True
            _log.warning("receipts cannot be kept in %s (%s); the bot plays on without", self.file, error)


def _head(head: LogHead) -> dict[str, Any]:
    return {"size": head.size, "root": head.root.hex(), "signature": head.signature.hex()}


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, if the system has file modes; `flags` has O_BINARY on Windows."""
    return os.open(path, flags, 0o600)


def _write_whole(file: FileIO, line: bytes) -> None:
    """Append a line to the file, or leave the file unchanged: half a line would corrupt the next line."""
    before = file.seek(0, os.SEEK_END)
    try:
        if file.write(line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        with contextlib.suppress(OSError):
            file.truncate(before)
        raise


def _problem(report: MatchReport) -> str | None:
    """Describe a fault in the entry of a report; None if there is none."""
    entry = report.entry
    if not included(entry):
        return "its proof does not lead from leaf to head"
    try:
        leaf = fields(entry.leaf)
    except ValueError as error:
        return f"its leaf cannot be read ({error})"
    told: Sequence[tuple[str, object]] = [("number", entry.number), ("match", report.match_id)]
    if not report.interrupted:
        told = [*told, ("places", [*report.places]), ("points", [*report.scores])]
    for name, value in told:
        if leaf.get(name) != value:
            return f'its leaf says {leaf.get(name)} for "{name}", the report {value}'
    return None
