"""Proofs for a log of results (RFC 9162, 2.1): that it includes a leaf, and that it has only grown."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from arena_client.ed25519 import signed
from arena_client.v1.log_pb2 import LogEntry, LogHead


def included(entry: LogEntry) -> bool:
    """Return true if a leaf's proof leads to the root of its head."""
    place, last = entry.number - 1, entry.head.size - 1
    if not 0 <= place <= last:
        return False
    roots = _climbed(place, last, hashlib.sha256(b"\0" + entry.leaf).digest(), entry.proof)
    return roots is not None and roots[1] == entry.head.root


def consistent(first: LogHead, second: LogHead, proof: Sequence[bytes]) -> bool:
    """Return true if the proof shows that the first log, which is not empty, is the beginning of the second."""
    if not 0 < first.size <= second.size:
        return False
    if first.size == second.size:
        return not proof and first.root == second.root
    rest = list(proof) if first.size & first.size - 1 else [first.root, *proof]
    if not rest:
        return False
    place, last = first.size - 1, second.size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    return _climbed(place, last, rest[0], rest[1:]) == (first.root, second.root)


def _climbed(place: int, last: int, start: bytes, proof: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """Return the roots to which a proof leads from a node's hash: of the log up to this node, and of the whole log.

    `place` and `last`: numbers of this node and of the last node on its level. None if the proof has the wrong length.
    """
    old = new = start
    for each in proof:
        if not last:
            return None
        if place & 1 or place == last:
            old, new = _node(each, old), _node(each, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = _node(new, each)
        place, last = place >> 1, last >> 1
    return None if last else (old, new)


class Keys:
    """The successive public keys of a log. Each key signs the next."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        """Read the leaves that name the keys. Raises: ValueError: One is malformed, or unsigned by the previous key."""
        self.leaves = [*leaves]
        self.log = ""
        self._newest = b""
        for content in leaves:
            leaf = fields(content)
            try:
                key, signature = bytes.fromhex(leaf["key"]), bytes.fromhex(leaf["signature"])
            except (KeyError, TypeError) as error:
                raise ValueError(f"a leaf that names no key: {error}") from None
            if not self.log:
                self.log = hashlib.sha256(key).hexdigest()
            elif not signed(self._newest, signature, f"arena-log/{self.log}\nkey\n{key.hex()}\n".encode()):
                raise ValueError("a key that the one before it did not sign")
            self._newest = key
        if not leaves:
            raise ValueError("a log without a key")

    def signed(self, head: LogHead) -> bool:
        """Return true if a head is signed by the newest key."""
        text = f"arena-log/{self.log}\n{head.size}\n{base64.b64encode(head.root).decode()}\n"
        return signed(self._newest, head.signature, text.encode())


def fields(leaf: bytes) -> dict[str, Any]:
    """Return the fields of a leaf by name. Raises ValueError if it is malformed."""
    found = json.loads(leaf)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()
