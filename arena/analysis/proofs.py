"""Comparison of a replay with a bot's receipt and with a server's log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from arena.log.head import LogEntry, LogState
from arena.log.keys import LogKeys
from arena.log.leaf import RESULTS, LeafError, LeafKind, decode_leaf
from arena.log.receipt import Receipt, ReceiptUnusable, receipts_of
from arena.log.tree import consistent
from arena.replay.hash_chain import without_chain

if TYPE_CHECKING:
    from arena.replay.replay import Replay


class LogSource(Protocol):
    """A source of a log: a server or a data directory."""

    def log_state(self) -> LogState: ...  # noqa: D102 - see `arena.queries.remote.Client`
    def log_entries(self, match_id: int) -> tuple[LogEntry, ...]: ...  # noqa: D102
    def log_consistency(self, first: int, second: int) -> tuple[bytes, ...]: ...  # noqa: D102


class NotProved(Exception):  # noqa: N818 - the name says it
    """Raised for a replay that contradicts its proofs, or has none. The message states the reason."""


@dataclass(frozen=True, slots=True)
class LogProof:
    """The proven entry of a match in a server's log."""

    log: str
    """The name of the log."""
    number: int
    """Number of the leaf with the result."""
    size: int
    """Number of leaves under the presented head."""
    void: str
    """The reason why the result was annulled, or an empty text."""


def find_receipt(replay: Replay, directory: Path) -> Receipt:
    """Return the receipt of a replay's match from a file, or from the files of a directory.

    The files may contain receipts from several servers for matches with the same number. A receipt that agrees with the
    replay is preferred.

    Raises:
        NotProved: there is no such receipt.
    """
    files = sorted(directory.glob("*.receipts")) if directory.is_dir() else [directory]
    match_id, found = replay.header.match_id, list[Receipt]()
    try:
        for file in files:
            found += receipts_of(file.read_text("utf-8"), str(file), match_id)
    except OSError as error:
        raise NotProved(f"{error.filename} cannot be read: {error.strerror}") from error
    except (ReceiptUnusable, UnicodeDecodeError) as error:
        raise NotProved(f"the receipt cannot be used: {error}") from error
    if not found:
        raise NotProved(f"there is no receipt of match {match_id} in {directory}")
    return min(found, key=lambda receipt: len(leaf_differences(replay, receipt.leaf)))


def compare_receipt(replay: Replay, receipt: Receipt) -> None:
    """Compare a replay with a receipt. Raises: NotProved: They differ."""
    differing = leaf_differences(replay, receipt.leaf)
    header, seat = replay.header, receipt.seat
    if receipt.commitment and receipt.commitment != header.commitment:
        differing.append("the seed's commitment")
    if receipt.nonce and (seat >= len(header.nonces) or receipt.nonce != header.nonces[seat]):
        differing.append(f"the nonce of seat {seat}")
    salts = [each.salt for each in header.offers if each.seat == seat]
    if receipt.salt and salts and receipt.salt not in salts:
        differing.append(f"the salt of seat {seat}")
    if differing:
        raise NotProved(f"it is not what the receipt says ({receipt.source}): {', '.join(differing)}")


def compare_log(replay: Replay, source: LogSource, receipt: Receipt | None = None) -> LogProof:
    """Compare a replay with the current log. With a receipt, also check that the log continues the receipt's head.

    Raises:
        NotProved: they differ, or the log does not prove the result.
    """
    state = source.log_state()
    try:
        keys = LogKeys(state.keys)
    except LeafError as error:
        raise NotProved(f"the log is invalid: {error}") from error
    if not keys.signed_now(state.head):
        raise NotProved("the log's head is not signed by its key")
    if receipt is not None:
        _require_same_log(receipt, state, keys, source)
    match_id, result, void = replay.header.match_id, None, ""
    for entry in source.log_entries(match_id):
        leaf = proved_leaf(entry, keys)
        if leaf.get("match") != match_id:
            raise NotProved(f"the log answers with a leaf of match {leaf.get('match')}")
        if LeafKind(leaf["kind"]) is LeafKind.VOID:
            void = leaf["reason"]
        else:
            result = leaf, entry
    if result is None:
        raise NotProved(f"the log has no entry for match {match_id}")
    leaf, entry = result
    if receipt is not None and entry.leaf != receipt.entry.leaf:
        raise NotProved("the log's leaf of the match differs from the receipt's")
    if differing := leaf_differences(replay, leaf):
        raise NotProved(f"it is not what the log says: {', '.join(differing)}")
    return LogProof(keys.log, entry.number, entry.head.size, void)


def _require_same_log(receipt: Receipt, state: LogState, keys: LogKeys, source: LogSource) -> None:
    known, before, now = receipt.keys.leaves, receipt.entry.head, state.head
    if keys.leaves[: len(known)] != known:
        raise NotProved("the log is not the receipt's: its keys differ")
    if before.size <= now.size:
        proof = source.log_consistency(before.size, now.size)
        if consistent(before.size, before.root, now.size, now.root, proof):
            return
    cuts = [decode_leaf(each.leaf) for each in state.restores if each.included and each.head == now]
    if any(cut["size"] < receipt.entry.number for cut in cuts):
        raise NotProved("the log was restored from a backup since, and no longer has this receipt's leaf")
    if not any(cut["size"] < before.size for cut in cuts):
        raise NotProved("the log was changed since the receipt")


def proved_leaf(entry: LogEntry, keys: LogKeys) -> Mapping[str, Any]:
    """Return the fields of a leaf. Raises: NotProved: The log does not prove it."""
    if not (keys.signed_now(entry.head) and entry.included):
        raise NotProved(f"the log does not prove that it has leaf {entry.number}")
    try:
        return decode_leaf(entry.leaf)
    except LeafError as error:
        raise NotProved(f"leaf {entry.number} of the log is invalid: {error}") from error


def text_of(replay: Replay) -> str:
    """Return the SHA-256, in hex, of a replay's lines without their chain fields. Leaves contain this digest."""
    lines = [f"{without_chain(line)}\n" for line in replay.lines]
    return sha256("".join(lines).encode()).hexdigest()


def leaf_differences(replay: Replay, leaf: Mapping[str, Any]) -> list[str]:
    """Return the differences between a replay and the leaf of a match, in words."""
    header, result = replay.header, replay.result
    if LeafKind(leaf["kind"]) not in RESULTS:
        return [f"the match ended without a result ({leaf['reason']})"]
    rated = replay.ratings is not None
    compared: Sequence[tuple[str, object, object]] = (
        ("the match's number", leaf["match"], header.match_id),
        ("the game", leaf["game"], header.game.name),
        ("the ladder", leaf.get("ladder", leaf["game"]), header.ladder_id),
        ("the kind", LeafKind(leaf["kind"]) is LeafKind.RATED, rated),
        ("the bots' names", leaf["names"], [bot.name for bot in header.bots]),
        ("the places", leaf["places"], list(result.places)),
        ("for whom it counts", leaf["counts"], list(result.counts)),
        ("the points", leaf["points"], list(result.scores)),
    )
    differing = [name for name, one, other in compared if one != other]
    if leaf["replay"] != text_of(replay):
        differing.append("the replay's digest")
    return differing
