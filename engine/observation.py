"""A view as numbers: the fields of a vector that learning code reads, and how they lie one after the other.

A game's table of fields is data, and the same table says where its encoder writes, so that documentation, shape and
content cannot drift apart. Numbers are small floats; where seats are counted, the seat that looks is 0, the one to its
left 1 and so on, so that what a bot learns on one seat serves it on all.

The same numbers go into bytes, a quarter of the room: each field says what one step of a byte is worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Field:
    """A run of numbers in a vector."""

    name: str
    offset: int
    """Where in the vector it begins."""
    shape: tuple[int, ...]
    """Its dimensions, the last one running fastest; () is a single number."""
    low: float
    high: float
    """No number of it is below `low` or above `high`."""
    meaning: str
    unit: float = 1.0
    """What one step of a byte is: a number is (byte − zero) × unit, of what fits into a byte."""
    zero: int = 0
    """The byte that stands for 0."""

    @property
    def size(self) -> int:
        """The number of values in the field."""
        return prod(self.shape)


class Part(NamedTuple):
    """A field before it has its place."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    low: float = 0.0
    high: float = 1.0
    unit: float = 1.0
    zero: int = 0


def laid_out(parts: Iterable[Part]) -> tuple[Field, ...]:
    """Lay the parts one after the other."""
    fields: list[Field] = []
    offset = 0
    for part in parts:
        fields.append(Field(part.name, offset, part.shape, part.low, part.high, part.meaning, part.unit, part.zero))
        offset += fields[-1].size
    return tuple(fields)


class VectorError(ValueError):
    """A vector cannot be written there; the message says what was given and what is needed."""


class Blank(NamedTuple):
    """Vectors of one length with nothing in them yet."""

    floats: Any
    """A memoryview."""
    bytes: Any


def blank(length: int) -> Blank:
    """Return empty vectors of a length, to copy."""
    return Blank(memoryview(bytes(4 * length)).cast("f"), memoryview(bytes(length)))


def emptied(array: Any, empty: Blank) -> tuple[Any, bool]:
    """Clear an array for a vector; return it, and whether it is of bytes. VectorError for one that does not fit.

    An array is whatever has a buffer of one dimension, as long as the vector and contiguous, of float32 or of bytes.
    """
    try:
        target: Any = memoryview(array)
        if target.format == "f":
            target[:] = empty.floats
            return target, False
        if target.format == "B":
            target[:] = empty.bytes
            return target, True
        given = f"an array of format {target.format!r} and shape {target.shape}"
    except TypeError as error:
        given = f"a {type(array).__name__} ({error})"
    except (ValueError, NotImplementedError) as error:
        given = f"an array of format {target.format!r} and shape {target.shape} ({error})"
    raise VectorError(
        f"a vector goes into {len(empty.bytes)} writable numbers of float32 ('f') or uint8 ('B'), not into {given}"
    )


def write(numbers: Sequence[float], fields: Sequence[Field], array: Any) -> None:
    """Write a vector that is there already into an array, for games without a faster way; VectorError as `emptied`."""
    target, in_bytes = emptied(array, blank(len(numbers)))
    for field in fields:
        for place in range(field.offset, field.offset + field.size):
            number = numbers[place]
            target[place] = min(max(round(number / field.unit) + field.zero, 0), 255) if in_bytes else number


class Layout(NamedTuple):
    """The offsets at which an encoder writes."""

    at: Mapping[str, int]
    """The offset of each field, by name."""
    length: int
    """How many numbers the vector has."""


def layout(fields: Sequence[Field]) -> Layout:
    """Return the offsets at which an encoder of these fields writes."""
    return Layout({field.name: field.offset for field in fields}, sum(field.size for field in fields))
