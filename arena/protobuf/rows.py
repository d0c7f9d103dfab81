"""Conversion between dataclasses, called rows, and protobuf messages with fields of the same names.

Fields may be numbers, strings, nested dataclasses, tuples of these, instants (`datetime` in UTC and `Timestamp`) and
enums (`State.OVER` and `STATE_OVER`). None means that a field is absent. It is allowed only if the message's field
distinguishes absence, or is an enum, which is then `STATE_UNSPECIFIED`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from functools import cache, partial
from types import MappingProxyType, NoneType
from typing import Any, Final, NamedTuple, TypeVar, cast, get_args, get_type_hints

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

MessageType = TypeVar("MessageType", bound=Message)
RowType = TypeVar("RowType")
EnumType = TypeVar("EnumType", bound=Enum)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownValueError(ValueError):
    """Error for an enum value that only a later version of the protocol has.

    The message names enum and number.
    """


class _Field(NamedTuple):
    """A field that a row and a message share."""

    name: str
    optional: bool
    """True if the field may be absent from the message, and therefore None in the row."""
    convert: Callable[[Any], Any] | None
    """Function that converts a value for the other side. None if both sides have the same value."""


def pack(row: object, message: type[MessageType], **others: object) -> MessageType:
    """Convert a row to a message of this class; fields that only the row has are left out.

    `others`: values of fields that the row lacks.

    Raises AttributeError for a field that only the message has, and ValueError for None in a field that cannot be
    absent.
    """
    return message(**_values(row, message.DESCRIPTOR, others))


def unpack(message: Message, row: type[RowType], **others: object) -> RowType:
    """Convert a message to a row; `others`: values of fields that the message lacks or does not determine.

    Raises TypeError for a field of the row that neither the message nor `others` provides, and UnknownValueError.
    """
    values = dict(others)
    for name, optional, convert in _fields_of_row(cast("Any", row), message.DESCRIPTOR):
        if name in others:
            continue
        if optional and not message.HasField(name):
            values[name] = None
        else:
            value = getattr(message, name)
            values[name] = value if convert is None else convert(value)
    return row(**values)


def _values(row: object, message: Any, others: Mapping[str, object] = MappingProxyType({})) -> dict[str, Any]:
    """Return a message's field values, with nested messages as dictionaries, which protobuf converts faster."""
    values = dict(others)
    for name, optional, convert in _fields_of_message(message):
        if name in others:
            continue
        value = getattr(row, name)
        if value is not None:
            values[name] = value if convert is None else convert(value)
        elif not (optional or message.fields_by_name[name].enum_type is not None):
            raise ValueError(f"{message.name}.{name} cannot be absent, and {type(row).__name__}.{name} is None")
    return values


@cache
def _fields_of_message(message: Descriptor) -> tuple[_Field, ...]:
    """Return the fields of a message, with converters from a row's values."""
    return tuple(_Field(each.name, each.has_presence, _packer(each)) for each in message.fields)


@cache
def _fields_of_row(row: Any, message: Descriptor) -> tuple[_Field, ...]:
    """Return the fields that a row and a message share, with converters from the message's values."""
    hints, there = get_type_hints(row), message.fields_by_name
    found = []
    for name in (each.name for each in fields(row) if each.name in there):
        kinds = get_args(hints[name]) or (hints[name],)
        kind = next(each for each in kinds if each is not NoneType)
        optional = NoneType in kinds and there[name].has_presence
        found.append(_Field(name, optional, _unpacker(there[name], kind)))
    return tuple(found)


def _packer(field: Any) -> Callable[[Any], Any] | None:
    if field.enum_type is not None:
        numbers, prefix = field.enum_type.values_by_name, _prefix(field.enum_type)
        return lambda member: numbers[prefix + member.name].number
    if field.message_type is None:
        return None
    if field.message_type is Timestamp.DESCRIPTOR:
        return _timestamp
    one = partial(_values, message=field.message_type)
    return (lambda rows: [*map(one, rows)]) if field.is_repeated else one


def _unpacker(field: Any, kind: Any) -> Callable[[Any], Any] | None:
    if field.enum_type is not None:
        return partial(member, kind, field.enum_type)
    if field.message_type is None:
        return tuple if field.is_repeated else None
    if field.message_type is Timestamp.DESCRIPTOR:
        return partial(Timestamp.ToDatetime, tzinfo=UTC)
    one = partial(unpack, row=kind)
    return (lambda messages: tuple(map(one, messages))) if field.is_repeated else one


def member(members: type[EnumType], enum: EnumDescriptor, number: int) -> EnumType:
    """Return the member for a value of the protocol's enum. Raises: UnknownValueError: There is no such member."""
    found = enum.values_by_number.get(number)
    name = "" if found is None else found.name.removeprefix(_prefix(enum))
    if name not in members.__members__:
        raise UnknownValueError(f"{enum.name} {number}")
    return members[name]


def _prefix(enum: Any) -> str:
    """Return the common prefix of the names of an enum's values, such as "STATE_"."""
    return str(enum.values_by_number[0].name.removesuffix("UNSPECIFIED"))


def _timestamp(instant: datetime) -> dict[str, int]:
    passed = instant - _EPOCH
    return {"seconds": passed.days * 86_400 + passed.seconds, "nanos": passed.microseconds * 1000}
