"""The schema of a replay's lines: their fields and types of values.

The schema checks only the form, not the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, NamedTuple, TypeAlias

from arena.match.effects import Cause, Refusal
from arena.match.policy import Policy
from arena.match.result import RATING_RULE
from arena.match.seat import NEVER
from arena.replay.header import MatchKind, OfferOutcome


class FieldKind(NamedTuple):
    """Type of the values of a field."""

    description: str
    fits: Callable[[Any], bool]


Shape: TypeAlias = Mapping[str, FieldKind]


class ShapeError(ValueError):
    """A line that does not match its schema. The message names the field and the expected values."""


def _is_whole(value: object) -> bool:
    return type(value) is int


def _hex(size: int) -> FieldKind:
    return FieldKind(
        f"{2 * size} lower-case hex digits",
        lambda value: isinstance(value, str) and len(value) == 2 * size and set(value) <= set("0123456789abcdef"),
    )


def _one_of(*description: str) -> FieldKind:
    return FieldKind(f"one of {', '.join(description)}", lambda value: isinstance(value, str) and value in description)


def _list_of(kind: FieldKind, description: str) -> FieldKind:
    return FieldKind(description, lambda value: isinstance(value, list) and all(map(kind.fits, value)))


_LADDER_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}(?:/(?:[2-9]|[1-9][0-9]{1,8}))?")
"""Pattern of a ladder id: a name and, from the second season on, its number. A default ladder's name is its game's,
which may contain underscores.
"""
_TABLE: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}/(?:0|[1-9][0-9]{0,8})")
WHOLE: Final = FieldKind("a whole number", _is_whole)
NATURAL: Final = FieldKind("a whole number, 0 or more", lambda value: _is_whole(value) and value >= 0)
NUMBER: Final = FieldKind("a number below 1e9", lambda value: type(value) in {int, float} and abs(value) < 1e9)
INSTANT: Final = FieldKind("microseconds, 0 to 2^62 − 1", lambda value: _is_whole(value) and 0 <= value <= NEVER)
TEXT: Final = FieldKind("text", lambda value: isinstance(value, str))
YES_NO: Final = FieldKind("true or false", lambda value: isinstance(value, bool))
NAME: Final = FieldKind("a name or null", lambda value: value is None or isinstance(value, str))
WHOLES: Final = _list_of(WHOLE, "a list of whole numbers")
YESES: Final = _list_of(YES_NO, "a list of true and false")
TEXTS: Final = _list_of(TEXT, "a list of texts")
NATURALS: Final = _list_of(NATURAL, "a list of whole numbers, 0 or more")
OBJECT: Final = FieldKind("an object", lambda value: isinstance(value, dict))
OBJECTS: Final = _list_of(OBJECT, "a list of objects")
OPTIONS: Final = FieldKind(
    "an object of whole numbers and true or false",
    lambda value: isinstance(value, dict) and all(isinstance(each, int) for each in value.values()),
)
CAUSE: Final = _one_of(*(cause.value for cause in Cause if cause is not Cause.ABSENCE))
REFUSAL: Final = _one_of(*(refusal.value for refusal in Refusal))
RESULT: Final = _one_of("finished", "interrupted")
OF_A_ROUND: Final = FieldKind(
    "a whole number, a list of them or null", lambda value: value is None or _is_whole(value) or WHOLES.fits(value)
)

HEADER: Final[Shape] = {
    "arena_replay": NATURAL,
    "match": NATURAL,
    "game": TEXT,
    "rated": YES_NO,
    "options": OPTIONS,
    "seats": NATURAL,
    "bots": OBJECTS,
    "seed": _hex(32),
    "commitment": _hex(32),
    "nonces": _list_of(_hex(16), "a list of texts of 32 lower-case hex digits"),
    "stand_in": TEXT,
    "policy": OBJECT,
    "started": TEXT,
    "server": TEXT,
}
ADDED_TO_HEADER_IN_4: Final[Shape] = {
    "kind": _one_of(*(kind.value for kind in MatchKind)),
    "dealt_by": TEXT,
    "rating_rule": FieldKind(
        f"the number of a rating rule, 1 to {RATING_RULE},",
        lambda value: _is_whole(value) and 1 <= value <= RATING_RULE,
    ),
    "offers": OBJECTS,
}
OF_A_LADDER: Final[Shape] = {
    "ladder": FieldKind(
        "the id of a ladder, such as slow or slow/2,",
        lambda value: isinstance(value, str) and _LADDER_ID.fullmatch(value) is not None,
    ),
}
OF_AN_EVENT: Final[Shape] = {
    "event": FieldKind(
        "an event and the number of its table, such as friday/12,",
        lambda value: isinstance(value, str) and _TABLE.fullmatch(value) is not None,
    ),
}
OFFER: Final[Shape] = {
    "seat": NATURAL,
    "bot": TEXT,
    "outcome": _one_of(*(outcome.value for outcome in OfferOutcome)),
    "invitation_id": NATURAL,
    "salt": _hex(32),
}
BOT: Final[Shape] = {"name": TEXT, "house": YES_NO}
ADDED_TO_BOT_IN_4: Final[Shape] = {"newcomer": YES_NO}
ADDED_TO_POLICY_IN_4: Final[Shape] = {"newcomer_grace": NATURAL}
POLICY: Final[Shape] = {field.name: NATURAL for field in fields(Policy) if field.name not in ADDED_TO_POLICY_IN_4}
_SEAT: Final[Shape] = {"at": INSTANT, "seat": WHOLE}
_CHOICE: Final[Shape] = {"seat": WHOLE, "decision": WHOLE, "action": WHOLE, "name": NAME}
INPUTS: Final[Mapping[str, Shape]] = {
    "begun": {"at": INSTANT},
    "sent": {**_SEAT, "decision": WHOLE, "lag": WHOLE},
    "acted": {"at": INSTANT, **_CHOICE},
    "stood_in": {"at": INSTANT, **_CHOICE},
    "time_up": {"at": INSTANT},
    "left": {**_SEAT, "in_order": YES_NO},
    "returned": _SEAT,
    "restored": {"at": INSTANT, "stand_in": TEXT},
    "interrupted": {"at": INSTANT, "reason": TEXT},
}
OF_A_REMOVAL: Final[Shape] = {"removed": NATURALS}
_OVER: Final[Shape] = {
    "scores": WHOLES,
    "places": WHOLES,
    "forced": WHOLES,
    "troubled": YESES,
    "counts": YESES,
    "interrupted": TEXT,
}
ADDED_TO_RESULT_IN_RULE_2: Final[Shape] = {"spoilt": YESES}
EFFECTS: Final[Mapping[str, Shape]] = {
    "refused": {**_CHOICE, "why": REFUSAL, "legal": WHOLES, "time": NATURAL},
    "forced": {**_CHOICE, "why": CAUSE},
    "suspended": {"seat": NATURAL},
    "gone": {"seat": NATURAL, "time": NATURAL},
    "substituted": {"seat": NATURAL},
    "back": {"seat": NATURAL},
    "hold": {"time": NATURAL},
    "release": {},
    "round": {"round": NATURAL, "points": WHOLES, "scores": WHOLES},
    "over": _OVER,
}
SHOWN_LINE: Final[Shape] = {
    "shown": NATURAL,
    "views": _list_of(_hex(32), "a list of texts of 64 lower-case hex digits"),
    "banks": NATURALS,
}
RESULT_LINE: Final[Shape] = {"result": RESULT, "bots": TEXTS, **_OVER}
RATINGS_LINE: Final[Shape] = {"ratings": OBJECTS}
RATING: Final[Shape] = {
    "bot": TEXT,
    "before": NUMBER,
    "before_deviation": NUMBER,
    "after": NUMBER,
    "after_deviation": NUMBER,
}
OF_A_QUOTA: Final[Shape] = {"beyond_quota": NATURALS}


def check(line: Mapping[str, Any], shape: Shape, extra: FieldKind | None = None) -> None:
    """Raise ShapeError unless the line has exactly the given fields.

    `extra` is the type of other permitted fields.
    """
    for name, kind in shape.items():
        if name not in line:
            raise ShapeError(f'the field "{name}" is missing')
        if not kind.fits(line[name]):
            raise ShapeError(f'the field "{name}" holds {_short(line[name])} where {kind.description} belongs')
    for name in line.keys() - shape.keys():
        if extra is None:
            raise ShapeError(f'the field "{name}" does not belong there')
        if not extra.fits(line[name]):
            raise ShapeError(f'the field "{name}" holds {_short(line[name])} where {extra.description} belongs')


def _short(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
