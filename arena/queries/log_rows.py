"""Rows about entries of the log of results, whose proofs have been checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.log.head import LogEntry, LogState
from arena.log.keys import LogKeys
from arena.log.leaf import LeafError, decode_leaf
from arena.store.base.errors import StoreError


class UnprovenLog(StoreError):  # noqa: N818 - the name says what is the matter
    """The log's key did not sign an answer about the log, or the answer's proof does not lead to the head."""


@dataclass(frozen=True, slots=True)
class LogHeadRow:
    """The newest signed head of the log."""

    log: str
    """The log's name: the SHA-256 of its first public key, in hex."""
    size: int
    """Number of leaves under the head."""
    root: str
    """The root in hex."""
    signature: str
    """Ed25519 signature, in hex, by the last of the keys."""
    keys: tuple[str, ...]
    """The public keys named in the leaves under the head, in order, in hex. The last key signed the head."""
    restores: tuple[Mapping[str, Any], ...]
    """The leaves that record restorations from backups."""


@dataclass(frozen=True, slots=True)
class LogEntryRow:
    """A leaf of the log, with the proof that a signed head includes it."""

    number: int
    leaf: Mapping[str, Any]
    """The leaf as an object."""
    size: int
    """Number of leaves under the head."""
    root: str
    """The root in hex."""
    signature: str
    """Signature of the head, in hex."""
    proof: tuple[str, ...]
    """Hashes from the leaf to the root, in hex."""


def head_row(state: LogState) -> LogHeadRow:
    """Return the newest head after checking its signature.

    Raises:
        UnprovenLog: the signature is wrong.
    """
    keys, newest = _keys(state), state.head
    if not keys.signed_now(newest):
        raise UnprovenLog("the log's head is not signed by its key")
    return LogHeadRow(
        keys.log,
        newest.size,
        newest.root.hex(),
        newest.signature.hex(),
        tuple(str(decode_leaf(leaf)["key"]) for leaf in keys.leaves),
        tuple(decode_leaf(each.leaf) for each in state.restores),
    )


def entry_rows(state: LogState, entries: Sequence[LogEntry]) -> tuple[LogEntryRow, ...]:
    """Return the log's entries about a match after checking their proofs.

    Raises:
        UnprovenLog: a proof is wrong.
    """
    keys = _keys(state)
    for entry in entries:
        if not (entry.included and keys.signed_now(entry.head)):
            raise UnprovenLog(f"the log does not prove that it has leaf {entry.number}")
    return tuple(
        LogEntryRow(
            entry.number,
            _leaf(entry.leaf),
            entry.head.size,
            entry.head.root.hex(),
            entry.head.signature.hex(),
            tuple(each.hex() for each in entry.proof),
        )
        for entry in entries
    )


def _keys(state: LogState) -> LogKeys:
    try:
        return LogKeys(state.keys)
    except LeafError as error:
        raise UnprovenLog(f"the log is invalid: {error}") from error


def _leaf(content: bytes) -> Mapping[str, Any]:
    try:
        return decode_leaf(content)
    except LeafError as error:
        raise UnprovenLog(f"the log is invalid: {error}") from error
