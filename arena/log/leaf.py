"""The leaves of the log as canonical bytes.

docs/log.md describes them, with test vectors. A leaf is one JSON object in UTF-8 without spaces. Its fields have the
order given here, and only necessary escapes are used. So each content has exactly one encoding, and any language can
read it.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final

VERSION: Final = 1
"""Version of the format of leaves."""


class LeafKind(Enum):
    """A kind of leaf."""

    RATED = "rated"
    """The result of a match that moves ratings."""
    CASUAL = "casual"
    """The result of a match that moves none."""
    INTERRUPTED = "interrupted"
    """The end of a match without a result."""
    VOID = "void"
    """The annulment of a result."""
    BAN = "ban"
    UNBAN = "unban"
    HIDE = "hide"
    UNHIDE = "unhide"
    DELETE = "delete"
    RENAME = "rename"
    PRUNE = "prune"
    """The removal of the contents of old replays."""
    RESTORE = "restore"
    """The restoration of the data directory from a backup: everything after the named head is gone."""
    KEY = "key"
    """The change to another signing key; the first leaf of every log names its first key."""


_SEATS: Final = ("bots", "names", "versions")
_RESULT: Final = ("match", "game", *_SEATS, "places", "counts", "points", "replay")
_DECISION: Final = ("name", "reason")
FIELDS: Final[dict[LeafKind, tuple[str, ...]]] = {
    LeafKind.RATED: _RESULT,
    LeafKind.CASUAL: _RESULT,
    LeafKind.INTERRUPTED: ("match", "game", *_SEATS, "reason"),
    LeafKind.VOID: ("match", "game", "reason"),
    LeafKind.BAN: _DECISION,
    LeafKind.UNBAN: _DECISION,
    LeafKind.HIDE: _DECISION,
    LeafKind.UNHIDE: _DECISION,
    LeafKind.DELETE: _DECISION,
    LeafKind.RENAME: ("name", "new_name", "reason"),
    LeafKind.PRUNE: ("through", "replays"),
    LeafKind.RESTORE: ("size", "root"),
    LeafKind.KEY: ("key", "signature"),
}
"""The fields of each kind, in their order, after `log` (the version), `number` (from 1), `kind` and `at` (microseconds
since 1970)."""
RESULTS: Final = frozenset({LeafKind.RATED, LeafKind.CASUAL})
"""The kinds of matches that ended with a result."""
_HEAD: Final = ("log", "number", "kind", "at")
_ALL_FIELDS: Final = {kind: dict.fromkeys((*_HEAD, *names)) for kind, names in FIELDS.items()}
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class LeafError(ValueError):
    """Raised if bytes or fields are not a valid leaf. The message gives the reason."""


def encode_leaf(number: int, kind: LeafKind, at: int, **fields: Any) -> bytes:
    """Return the canonical bytes of a leaf.

    Raises:
        LeafError: The fields are not exactly those of its kind.
    """
    names = FIELDS[kind]
    if fields.keys() != set(names):
        raise LeafError(f"a leaf of the kind {kind.value} has the fields {', '.join(names)}, not {', '.join(fields)}")
    head = {"log": VERSION, "number": number, "kind": kind.value, "at": at}
    return _ENCODE(head | {name: fields[name] for name in names}).encode()


def text_of(value: Any) -> str:
    """Return a field's value as it is encoded in a leaf."""
    return _ENCODE(value)


def decode_leaf(content: bytes) -> dict[str, Any]:
    """Return the fields of a leaf by name. `kind` is a string.

    Raises:
        LeafError: The bytes are not canonical.
    """
    try:
        leaf = json.loads(content.decode())
        if leaf["log"] != VERSION:
            raise LeafError(f"its version is {leaf['log']!r}, and this program knows {VERSION}; upgrade it")
        kind = LeafKind(leaf["kind"])
        if leaf.keys() != _ALL_FIELDS[kind].keys():
            fields = ", ".join(name for name in leaf if name not in _HEAD)
            raise LeafError(f"a leaf of the kind {kind.value} has the fields {', '.join(FIELDS[kind])}, not {fields}")
        canonical = [*leaf] == [*_ALL_FIELDS[kind]] and _ENCODE(leaf).encode() == content
    except LeafError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LeafError(f"it is no leaf of a log ({type(error).__name__}: {error})") from None
    if not canonical:
        raise LeafError("it is written otherwise than a leaf is")
    named: dict[str, Any] = leaf
    return named
