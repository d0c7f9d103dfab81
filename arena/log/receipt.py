"""Receipts that bots store (docs/log.md): reading their files, and checking a receipt on its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from arena.log.head import LogEntry, LogHead
from arena.log.keys import LogKeys
from arena.log.leaf import LeafError, decode_leaf


class ReceiptUnusable(ValueError):  # noqa: N818 - the name says it
    """Error of a receipt that proves nothing. The message states the reason."""


class Receipt(NamedTuple):
    """A bot's record of a match: the server's commitments, and the result sent to it."""

    source: str
    """Name of the file, for messages."""
    keys: LogKeys
    """The log's keys that the bot knew."""
    match_id: int
    seat: int
    entry: LogEntry
    leaf: Mapping[str, Any]
    """The leaf's content."""
    nonce: bytes
    """The bot's random bytes for the deal. Empty if unknown."""
    salt: bytes
    """The salt of the invitation's commitment. Empty if unknown."""
    commitment: bytes
    """The commitment to the server's seed. Empty if unknown."""


def receipts_of(content: str, source: str, match_id: int) -> Iterator[Receipt]:
    """Yield the receipts of a match in a file.

    Keys are read only if a receipt of the match follows them. Some clients write a server's keys
    without checking them, and bad keys must not invalidate the receipts before them.

    Raises:
        ReceiptUnusable: a receipt is damaged or not signed.
    """
    leaves: list[bytes] | None = None
    for number, text in enumerate(content.splitlines(), 1):
        try:
            line = json.loads(text)
            if "keys" in line:
                leaves = [leaf.encode() for leaf in line["keys"]]
            elif line["match"] == match_id:
                if leaves is None:
                    raise ReceiptUnusable("no key of a log stands before it")
                yield _receipt(line, source, LogKeys(leaves))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = error if isinstance(error, LeafError | ReceiptUnusable) else f"{type(error).__name__}: {error}"
            raise ReceiptUnusable(f"{source}, line {number}: it proves nothing: {why}") from error


def _receipt(line: Mapping[str, Any], source: str, keys: LogKeys) -> Receipt:
    head = line["head"]
    under = LogHead(head["size"], bytes.fromhex(head["root"]), bytes.fromhex(head["signature"]))
    proof = tuple(bytes.fromhex(each) for each in line["proof"])
    entry = LogEntry(line["number"], line["leaf"].encode(), under, proof)
    if not keys.signed(under):
        raise ReceiptUnusable("its head is not signed by the key of the log")
    if not entry.included:
        raise ReceiptUnusable("its head does not include its leaf")
    leaf = decode_leaf(entry.leaf)
    if (leaf["number"], leaf.get("match")) != (entry.number, line["match"]):
        raise ReceiptUnusable(f"its leaf is number {leaf['number']}, of match {leaf.get('match')}")
    started = (bytes.fromhex(line.get(name, "")) for name in ("nonce", "salt", "commitment"))
    return Receipt(source, keys, line["match"], line["seat"], entry, leaf, *started)
