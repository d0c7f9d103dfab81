"""Fields of the protocol as bytes, for the messages that the server writes with every decision.

A message is its fields one after the other, in any order; a field is its tag and its number, or its tag, a length and
so many bytes. A list of numbers below 128 is the string of these bytes. To join strings costs a fraction of what it
costs to fill a message number by number and have it serialized. What is written here is read as the public message;
numbers and names of fields come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

SETTLED: Final = 4096
"""Parts of views kept serialized that hardly change during a round: one or two for every match that is being played."""

_LAST: Final = tuple(bytes([number]) for number in range(128))
_MORE: Final = tuple(bytes([number | 128]) for number in range(128))
_SHORT: Final = (*_LAST, *(more + last for last in _LAST[1:8] for more in _MORE))
"""Numbers of decisions and lengths."""

_WIRE_TYPES: Final = {
    FieldDescriptor.TYPE_UINT32: 0,
    FieldDescriptor.TYPE_UINT64: 0,
    FieldDescriptor.TYPE_MESSAGE: 2,
}


def tag(message: type[Message], name: str) -> bytes:
    """What stands before a number, and before the length of a list or a message.

    Raises KeyError for a field that is none of these: other numbers than unsigned ones are written otherwise.
    """
    field = message.DESCRIPTOR.fields_by_name[name]
    wire_type = _WIRE_TYPES[field.type]
    return varint(field.number << 3 | (2 if field.is_packed else wire_type))


def small(message: type[Message], name: str) -> tuple[bytes, ...]:
    """By number below 128: the field that holds it; of a list, what stands before so many numbers below 128."""
    begin, present = tag(message, name), message.DESCRIPTOR.fields_by_name[name].has_presence
    return tuple(begin + varint(number) if number or present else b"" for number in range(128))


def varint(number: int) -> bytes:
    """An unsigned number: seven bits a byte, the lowest first, with the highest bit where more follow.

    Raises ValueError for a negative one.
    """
    if 0 <= number < len(_SHORT):
        return _SHORT[number]
    if number < 0:
        raise ValueError(f"an unsigned number must be in range, 0 or more, not {number}")
    return _MORE[number & 127] + varint(number >> 7)


class Head:
    """How a field begins: its tag, and its number or the length of the list or message that follows."""

    __slots__ = ("_short", "_tag")

    def __init__(self, message: type[Message], name: str) -> None:
        """Raises KeyError as `tag` does."""
        self._tag = tag(message, name)
        self._short = tuple([self._tag + number for number in _SHORT])

    def of(self, number: int) -> bytes:
        """With this number; ValueError for a negative one."""
        return self._short[number] if 0 <= number < len(self._short) else self._tag + varint(number)


def packed(numbers: Sequence[int]) -> bytes:
    """The numbers of a list, one after the other; ValueError where one is negative."""
    if isinstance(numbers, bytes) and numbers.isascii():
        return numbers
    return b"".join([varint(number) for number in numbers])
