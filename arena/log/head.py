"""Signed heads, each the state of a log at one moment, and entries, which prove that a leaf is in the log."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import NamedTuple

from arena.log.tree import leaf_hash, root_of_inclusion


class LogHead(NamedTuple):
    """The size and root of a log at one moment, with its key's signature."""

    size: int
    root: bytes
    signature: bytes
    """Ed25519 signature of 64 bytes over `head_text`."""


class LogEntry(NamedTuple):
    """A leaf, and the proof that a head includes it."""

    number: int
    """Number of the leaf, from 1."""
    leaf: bytes
    """Canonical bytes of the leaf."""
    head: LogHead
    proof: tuple[bytes, ...]
    """Hashes from the leaf to the root."""

    @property
    def included(self) -> bool:
        """True if the proof leads from the leaf to the head's root."""
        made = root_of_inclusion(self.number - 1, self.head.size, leaf_hash(self.leaf), self.proof)
        return made == self.head.root


class LogState(NamedTuple):
    """The state of a log at one moment."""

    keys: tuple[bytes, ...]
    """The leaves that name the log's keys, in order. The head includes all of them."""
    head: LogHead
    restores: tuple[LogEntry, ...] = ()
    """The leaves that record restorations from backups."""


def log_name(first_key: bytes) -> str:
    """Return the name of a log: the SHA-256 of its first public key, in hex. It remains when the key changes."""
    return sha256(first_key).hexdigest()


def head_text(log: str, size: int, root: bytes) -> bytes:
    """Return the text to sign, in the format of a checkpoint (C2SP tlog-checkpoint) without extensions."""
    return f"arena-log/{log}\n{size}\n{b64encode(root).decode()}\n".encode()


def webhook_text(log: str, body: bytes) -> bytes:
    """Return the text to sign for a message to a webhook."""
    return f"arena-webhook/{log}\n".encode() + body


def rotation_text(log: str, new_key: bytes) -> bytes:
    """Return the text that a key signs to name its successor."""
    return f"arena-log/{log}\nkey\n{new_key.hex()}\n".encode()
