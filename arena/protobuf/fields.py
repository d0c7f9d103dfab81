# Compiled: every decision passes through here.
"""Serialized protobuf fields, for assembling frequent messages by joining byte strings.

A serialized message is a sequence of fields in any order. A field is its tag and a number, or its tag, a length and
that many bytes. A packed list of numbers below 128 is one byte for each. Joining byte strings costs a fraction of
filling a message number by number and serializing it. Names, numbers and types of the fields come from the generated
classes, which can parse the result. Only booleans, unsigned numbers, packed lists and maps of these, bytes and messages
are supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

CACHED_PARTS: Final = 4096
"""Maximum number of parts in an `lru_cache` of serialized message parts that seldom change."""

_LAST: Final = tuple(bytes([number]) for number in range(128))
_MORE: Final = tuple(bytes([number | 128]) for number in range(128))
_PREPARED: Final = 1024
"""Upper bound of the numbers whose varints are prepared. Most numbers and lengths are below it."""
_SHORT: Final = (*_LAST, *(more + last for last in _LAST[1 : _PREPARED // 128] for more in _MORE))

_WIRE_TYPES: Final = {
    FieldDescriptor.TYPE_BOOL: 0,
    FieldDescriptor.TYPE_UINT32: 0,
    FieldDescriptor.TYPE_UINT64: 0,
    FieldDescriptor.TYPE_BYTES: 2,
    FieldDescriptor.TYPE_MESSAGE: 2,
}


def tag(message: type[Message], name: str) -> bytes:
    """Return the tag of a field: its number and its wire type.

    Raises KeyError for an unknown field, or one of an unsupported type.
    """
    field = message.DESCRIPTOR.fields_by_name[name]
    wire_type = _WIRE_TYPES[field.type]
    return varint(field.number << 3 | (2 if field.is_packed else wire_type))


def small_fields(message: type[Message], name: str) -> tuple[bytes, ...]:
    """Return the serialized field for each value below 128; for a list, the tag and length for each length below 128.

    The entry for 0 is empty if the field does not distinguish 0 from absence. Raises KeyError like `tag`.
    """
    begin, present = tag(message, name), message.DESCRIPTOR.fields_by_name[name].has_presence
    return tuple(begin + varint(number) if number or present else b"" for number in range(128))


def small_map_fields(message: type[Message], name: str) -> tuple[tuple[bytes, ...], ...]:
    """Return the serialized entries of a map of unsigned numbers, by key (below 16) and by value plus one.

    Index 0 holds the empty string, which means that the key is not in the map. Raises KeyError like `tag`.
    """
    entry = message.DESCRIPTOR.fields_by_name[name].message_type
    if entry is None:
        raise KeyError(name)
    begin = tag(message, name)
    key_tag, value_tag = (varint(entry.fields_by_name[part].number << 3) for part in ("key", "value"))
    pairs = [[key_tag + varint(key) + value_tag + varint(value) for value in range(128)] for key in range(16)]
    return tuple([(b"", *[begin + varint(len(pair)) + pair for pair in row]) for row in pairs])


def varint(number: int) -> bytes:
    """Serialize an unsigned number: seven bits per byte, lowest first, with the high bit set if more bytes follow.

    Raises ValueError for a negative number.
    """
    if 0 <= number < _PREPARED:
        return _SHORT[number]
    if number < 0:
        raise ValueError(f"an unsigned number must be in range, 0 or more, not {number}")
    return _MORE[number & 127] + varint(number >> 7)


class FieldPrefix:
    """A field's tag, to be followed by a number: a value, or the length of a list or message."""

    __slots__ = ("_short", "_tag")

    def __init__(self, message: type[Message], name: str) -> None:
        """Prepare the tag of a field. Raises: KeyError: As in `tag`."""
        self._tag = tag(message, name)
        self._short = tuple([self._tag + number for number in _SHORT])

    def of(self, number: int) -> bytes:
        """Serialize the tag and this number. Raises: ValueError: The number is negative."""
        return self._short[number] if 0 <= number < _PREPARED else self._tag + varint(number)


def packed(numbers: Sequence[int]) -> bytes:
    """Serialize the numbers of a packed list without tag and length. Raises: ValueError: A number is negative."""
    if isinstance(numbers, bytes):
        return numbers if numbers.isascii() else b"".join([_SHORT[number] for number in numbers])
    return b"".join([varint(number) for number in numbers])
