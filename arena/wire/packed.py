"""Fields of the protocol as bytes, for the messages that the server writes with every decision.

A message is its fields one after the other, in any order; a field is its tag and its number, or its tag, a length and
so many bytes. A list of numbers below 128 is the string of these bytes. To join strings costs a fraction of what it
costs to fill a message number by number and have it serialized. What is written here is read as the public message;
numbers and names of fields come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

RECURRING: Final = 16_384
"""Large numbers kept as they are written, such as those of matches going on, and as many times."""
SETTLED: Final = 4096
"""Parts of views kept serialized that hardly change during a round: one or two for every match that is being played."""

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
    return _SHORT[number] if 0 <= number < len(_SHORT) else _varint(number)


@lru_cache(maxsize=RECURRING)
def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


_SHORT: Final = tuple(_varint(number) for number in range(1024))
"""Numbers of decisions and lengths: this is faster than a cache."""


def packed(numbers: Sequence[int]) -> bytes:
    """The numbers of a list, one after the other; ValueError where one is negative."""
    if isinstance(numbers, bytes) and numbers.isascii():
        return numbers
    return b"".join(map(varint, numbers))
