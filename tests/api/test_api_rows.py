"""Rows and messages have the same fields, and a decoded row has all of them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, make_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import Any, Final, cast, get_args, get_type_hints

import pytest
from arena_client.v1 import bots_pb2, ladder_pb2, matches_pb2, operator_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder.ladder import FlagKind
from arena.protobuf.rows import pack, unpack
from arena.store.base import rows
from arena.store.base.rows import (
    BotEventKind,
    BotEventRow,
    BotRow,
    DrainRow,
    EventRow,
    FlagRow,
    InvitationRow,
    LadderEntryRow,
    LadderRow,
    LadderRows,
    LuckRow,
    MatchRow,
    MatchState,
    OpponentRow,
    PastLadder,
    PastLadderRow,
    RatedRow,
    SeasonRow,
    SeatRow,
    VersionRow,
)

MESSAGES: Final[dict[type, type[Message]]] = {
    LadderRows: ladder_pb2.GetLadderResponse,
    LadderRow: ladder_pb2.Standing,
    LuckRow: ladder_pb2.Luck,
    FlagRow: ladder_pb2.Flag,
    RatedRow: ladder_pb2.RatedMatch,
    SeasonRow: ladder_pb2.LadderSeason,
    PastLadder: ladder_pb2.GetPastLadderResponse,
    PastLadderRow: ladder_pb2.PastStanding,
    VersionRow: ladder_pb2.VersionEntry,
    OpponentRow: ladder_pb2.OpponentEntry,
    MatchRow: matches_pb2.MatchEntry,
    SeatRow: matches_pb2.MatchSeat,
    BotRow: bots_pb2.BotEntry,
    BotEventRow: bots_pb2.BotEvent,
    DrainRow: operator_pb2.DrainResponse,
    InvitationRow: operator_pb2.InvitationEntry,
}
LIVE: Final = {(BotRow, "connected"), (BotRow, "playing")}
"""Fields that a server always fills. They are None only if the data comes from a directory."""
BESIDE: Final[dict[type, dict[str, st.SearchStrategy[Any]]]] = {LadderRows: {"seats": st.integers(0, 99)}}
"""Fields of the request, which the response therefore omits."""
PAGED: Final[dict[type, set[str]]] = {LadderRows: {"next_page_token"}, PastLadder: {"next_page_token"}}
"""Fields of the response that describe the page and not a row."""
DERIVED: Final[dict[type, set[str]]] = {
    row: {name for name, value in vars(row).items() if isinstance(value, property)} for row in MESSAGES
}
"""Fields that a row derives from other fields, and that the message contains for programs."""
PLAIN: Final[dict[int, st.SearchStrategy[Any]]] = {
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(allow_nan=False),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, (1 << 64) - 1),
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_STRING: st.text(st.characters(exclude_categories=["Cs"])),
}
"""Values by type of field. NaN is excluded because it equals no value, and lone surrogates because they are not valid
text.
"""

every_row = pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row.__name__)


def descriptors(row: type) -> dict[str, Any]:
    beside = PAGED.get(row, set()) | DERIVED[row]
    return {field.name: field for field in MESSAGES[row].DESCRIPTOR.fields if field.name not in beside}


def optional(row: type) -> set[str]:
    """The fields that may be None."""
    return {name for name, kind in get_type_hints(row).items() if NoneType in get_args(kind)}


@cache
def rows_of(row: type) -> st.SearchStrategy[Any]:
    """A strategy for rows that a server may send, with every possible value of their fields."""
    hints, values = get_type_hints(row), {}
    for name, field in descriptors(row).items():
        kind = next(each for each in get_args(hints[name]) or (hints[name],) if each is not NoneType)
        values[name] = values_of(field, kind)
        if name in optional(row) and (row, name) not in LIVE:
            values[name] |= st.none()
    return st.builds(row, **values, **BESIDE.get(row, {}))


def values_of(field: Any, kind: Any) -> st.SearchStrategy[Any]:
    if is_dataclass(kind):
        nested = rows_of(cast("type", kind))
        return st.lists(nested, max_size=3).map(tuple) if field.is_repeated else nested
    if kind is datetime:
        assert field.message_type is Timestamp.DESCRIPTOR
        return st.datetimes(timezones=st.just(UTC))
    return st.sampled_from(kind) if field.enum_type is not None else PLAIN[field.cpp_type]


def test_every_row_has_its_message() -> None:
    here = {row for row in vars(rows).values() if is_dataclass(row)}
    ladder = LadderEntryRow  # This row contains some of the values in its message's `conduct`.
    event = EventRow  # This row contains words where its message contains flags.
    assert here == {*MESSAGES, ladder, event}


@every_row
def test_row_and_message_have_the_same_fields(row: type) -> None:
    own = {each.name for each in fields(row)} - BESIDE.get(row, {}).keys()
    assert own == descriptors(row).keys()


@every_row
def test_what_may_be_none_may_be_absent(row: type) -> None:
    absent = {name for name, field in descriptors(row).items() if field.has_presence}
    always = {name for name in absent if descriptors(row)[name].message_type is not None} - optional(row)
    assert optional(row) - {name for each, name in LIVE if each is row} == absent - always


def test_the_states_of_a_match_are_those_of_the_protocol() -> None:
    states = {f"MATCH_STATE_{state.name}" for state in MatchState}
    assert states == set(matches_pb2.MatchState.keys()) - {"MATCH_STATE_UNSPECIFIED"}


def test_the_kinds_of_events_are_those_of_the_protocol() -> None:
    kinds = {f"BOT_EVENT_KIND_{kind.name}" for kind in BotEventKind}
    assert kinds == set(bots_pb2.BotEventKind.keys()) - {"BOT_EVENT_KIND_UNSPECIFIED"}


def test_the_kinds_of_flags_are_those_of_the_protocol() -> None:
    kinds = {f"FLAG_KIND_{kind.name}" for kind in FlagKind}
    assert kinds == set(ladder_pb2.FlagKind.keys()) - {"FLAG_KIND_UNSPECIFIED"}


@every_row
@settings(max_examples=30)
@given(data=st.data())
def test_what_is_packed_is_unpacked(row: type, data: st.DataObject) -> None:
    said = data.draw(rows_of(row))
    token = dict.fromkeys(PAGED.get(row, ()), "token")
    message = MESSAGES[row].FromString(pack(said, MESSAGES[row], **token).SerializeToString())
    assert {name: getattr(message, name) for name in token} == token
    assert unpack(message, row, **{name: getattr(said, name) for name in BESIDE.get(row, {})}) == said


@every_row
@settings(max_examples=10)
@given(data=st.data())
def test_what_a_row_derives_is_in_its_message(row: type, data: st.DataObject) -> None:
    said = data.draw(rows_of(row))
    message = pack(said, MESSAGES[row], **dict.fromkeys(PAGED.get(row, ()), "token"))
    for name in DERIVED[row]:
        field, value = MESSAGES[row].DESCRIPTOR.fields_by_name[name], getattr(said, name)
        if field.enum_type is not None:
            value = (
                field.enum_type.values_by_number[0].number if value is None else _number(field.enum_type, value.name)
            )
        assert getattr(message, name) == value


def _number(enum: Any, name: str) -> int:
    [number] = [each.number for each in enum.values if each.name.endswith(f"_{name}")]
    return int(number)


def test_what_the_message_does_not_say_is_said_beside_it() -> None:
    empty = unpack(ladder_pb2.GetLadderResponse(game="skat"), LadderRows, seats=3, digest="ff")
    assert empty == LadderRows("skat", 3, (), None, "ff", None, None)
    with pytest.raises(TypeError, match="seats"):
        unpack(ladder_pb2.GetLadderResponse(), LadderRows)


def test_what_a_message_cannot_say_is_refused() -> None:
    row = BotRow("ann", "ann", False, True, None, 0, rows.instant(0), None, "", "", None, None, None)
    with pytest.raises(ValueError, match=r"BotEntry\.playing cannot be absent, and BotRow\.playing is None"):
        pack(row, bots_pb2.BotEntry)
    short = make_dataclass("Short", ["playing"])(3)
    with pytest.raises(AttributeError, match="done"):
        pack(short, operator_pb2.DrainResponse)
