"""The leaves of the log as canonical bytes.

docs/log.md describes them, with test vectors. A leaf is one JSON object in UTF-8 without spaces. Its fields have the
order given here, and only necessary escapes are used. So each content has exactly one encoding, and any language can
read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

VERSION: Final = 1
"""Version of the format of leaves that name no ladder."""
LADDER_VERSION: Final = 2
"""Version of the format of leaves that name a ladder. A game's default ladder is never named."""


class LeafKind(Enum):
    """A kind of leaf."""

    RATED = "rated"
    """The result of a match that changes ratings."""
    CASUAL = "casual"
    """The result of a match that changes no rating."""
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
    """The restoration of the data directory from a backup. Everything after the named head is lost."""
    KEY = "key"
    """The change to another signing key. The first leaf of every log names the first key."""
    SEASON = "season"
    """The beginning of a further season of a ladder."""
    EVENT = "event"
    """The announcement of an event, with the commitment to its seed."""
    ENTRANTS = "entrants"
    """The bots that play an event, with their nonces."""
    ROLL = "roll"
    """The bots that are present for a round of an event."""
    OUTCOME = "outcome"
    """The end of an event, with its seed."""


_SEATS: Final = ("bots", "names", "versions")
_RESULT: Final = ("match", "game", *_SEATS, "places", "counts", "points", "replay")
_LADDER_RESULT: Final = ("match", "game", "ladder", *_SEATS, "places", "counts", "points", "replay")
_DECISION: Final = ("name", "reason")
FIELDS: Final[dict[int, dict[LeafKind, tuple[str, ...]]]] = {
    VERSION: {
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
    },
    LADDER_VERSION: {
        LeafKind.RATED: _LADDER_RESULT,
        LeafKind.CASUAL: _LADDER_RESULT,
        LeafKind.INTERRUPTED: ("match", "game", "ladder", *_SEATS, "reason"),
        LeafKind.VOID: ("match", "game", "ladder", "reason"),
        LeafKind.SEASON: ("name", "season", "ladder"),
        LeafKind.EVENT: ("event", "ladder", "seats", "format", "matches", "seconds", "start", "commitment"),
        LeafKind.ENTRANTS: ("event", "ladder", "bots", "names", "nonces", "earlier"),
        LeafKind.ROLL: ("event", "ladder", "round", "present", "used"),
        LeafKind.OUTCOME: ("event", "ladder", "seed", "state", "winner", "tables", "baselines", "result"),
    },
}
"""By version and kind, the fields of a leaf in order. They follow `log` (the version), `number` (from 1), `kind` and
`at` (microseconds since 1970)."""
_KINDS: Final = [kind.value for kind in LeafKind]
RESULTS: Final = frozenset({LeafKind.RATED, LeafKind.CASUAL})
"""The kinds of leaves for matches that ended with a result."""
_HEAD: Final = ("log", "number", "kind", "at")
_ALL_FIELDS: Final = {
    version: {kind: dict.fromkeys((*_HEAD, *names)) for kind, names in kinds.items()}
    for version, kinds in FIELDS.items()
}
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class LeafError(ValueError):
    """Error for bytes or fields that are not a valid leaf. The message states the reason."""


def encode_leaf(number: int, kind: LeafKind, at: int, **fields: Any) -> bytes:
    """Return the canonical bytes of a leaf. It has version 2 if a ladder is among the fields.

    Raises:
        LeafError: The fields are not exactly those of its kind, or the ladder is the default one of its game.
    """
    version = LADDER_VERSION if "ladder" in fields else VERSION
    _check_fields(version, kind, fields)
    names = FIELDS[version][kind]
    head = {"log": version, "number": number, "kind": kind.value, "at": at}
    return _ENCODE(head | {name: fields[name] for name in names}).encode()


def _check_fields(version: int, kind: LeafKind, fields: Mapping[str, Any]) -> None:
    """Raise LeafError unless the fields are those of the kind. `fields` may also contain those that every leaf has."""
    names = FIELDS[version].get(kind)
    if names is None:
        known = " or ".join(str(each) for each, kinds in FIELDS.items() if kind in kinds)
        raise LeafError(f"a leaf of the kind {kind.value} has version {known}, not {version}")
    found = [name for name in fields if name not in _HEAD]
    if set(found) != set(names):
        raise LeafError(f"a leaf of the kind {kind.value} has the fields {', '.join(names)}, not {', '.join(found)}")
    if version == LADDER_VERSION and fields["ladder"] == fields.get("game", fields.get("name")):
        raise LeafError(f"a leaf does not name the default ladder {fields['ladder']!r}")


def text_of(value: Any) -> str:
    """Return a field's value as it is encoded in a leaf."""
    return _ENCODE(value)


def decode_leaf(content: bytes) -> dict[str, Any]:
    """Return the fields of a leaf by name. `kind` is a string.

    Raises:
        LeafError: The bytes are not canonical, or have a version, kind or field that this program does not know.
    """
    try:
        leaf = json.loads(content.decode())
        version, known = leaf["log"], " and ".join(map(str, FIELDS))
        if type(version) is not int or version not in FIELDS:
            raise LeafError(f"its version is {version!r}, and this program knows {known}; upgrade it")
        if leaf["kind"] not in _KINDS:
            raise LeafError(f"its kind is {leaf['kind']!r}, and this program knows {', '.join(_KINDS)}; upgrade it")
        kind = LeafKind(leaf["kind"])
        _check_fields(version, kind, leaf)
        if not leaf.keys() >= set(_HEAD):
            raise LeafError(f"it lacks one of the fields {', '.join(_HEAD)}")
        canonical = [*leaf] == [*_ALL_FIELDS[version][kind]] and _ENCODE(leaf).encode() == content
    except LeafError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LeafError(f"it is no leaf of a log ({type(error).__name__}: {error})") from None
    if not canonical:
        raise LeafError("it is written otherwise than a leaf is")
    named: dict[str, Any] = leaf
    return named
