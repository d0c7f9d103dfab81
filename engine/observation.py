"""A view as numbers for learning code: the fields of a vector and their order.

A game's table of fields is data. Its encoder uses the same table, so documentation, shape and content cannot drift
apart. Numbers are small floats. Seats are counted from the observing seat: it is 0, the seat to its left 1, and so on.
A bot can therefore use what it learned in any seat. The same numbers also fit into bytes, in a quarter of the space:
each field states the step between neighbouring bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, NamedTuple


@dataclass(frozen=True, slots=True)
class Field:
    """A range of numbers in a vector."""

    name: str
    offset: int
    """Offset in the vector."""
    shape: tuple[int, ...]
    """Dimensions, the last one varying fastest; () for a single number."""
    low: float
    high: float
    """Every number of the field is between `low` and `high`."""
    meaning: str
    unit: float = 1.0
    """The step between neighbouring bytes: a byte stands for the number (byte − zero) × unit."""
    zero: int = 0
    """The byte that stands for 0."""

    @property
    def size(self) -> int:
        """The number of values in the field."""
        return prod(self.shape)


class Part(NamedTuple):
    """A field without its offset."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    low: float = 0.0
    high: float = 1.0
    unit: float = 1.0
    zero: int = 0


def laid_out(parts: Iterable[Part]) -> tuple[Field, ...]:
    """Assign offsets to the parts, one after another."""
    fields: list[Field] = []
    offset = 0
    for part in parts:
        fields.append(Field(part.name, offset, part.shape, part.low, part.high, part.meaning, part.unit, part.zero))
        offset += fields[-1].size
    return tuple(fields)


_ALL: Final = slice(None)


class VectorError(ValueError):
    """Raised if a vector cannot be written to an array. The message names the array and the requirements."""


def opened(array: Any) -> tuple[Any, bool]:
    """Return an array as a memoryview, and True if its items are bytes. Raises: VectorError: array unsuitable."""
    target = array
    if type(array) is not memoryview:
        try:
            target = memoryview(array)
        except TypeError as error:
            raise _refused("", f"a {type(array).__name__} ({error})") from None
    kind: str = target.format
    in_bytes = kind == "B"
    if not in_bytes and kind != "f":
        raise _refused("", f"an array of format {kind!r} and shape {target.shape}")
    return target, in_bytes


def fill(target: Any, numbers: Any) -> None:
    """Copy a vector into an array, after opening it with `opened`.

    An array is any object with a writable buffer of one dimension, as long as the vector, of float32 or bytes. Raises
    VectorError if the vector does not fit.
    """
    try:
        target[_ALL] = numbers
    except TypeError as error:
        raise _refused(f"{len(numbers)} ", f"a {type(target.obj).__name__} ({error})") from None
    except (ValueError, NotImplementedError) as error:
        given = f"an array of format {target.format!r} and shape {target.shape} ({error})"
        raise _refused(f"{len(numbers)} ", given) from None


def _refused(count: str, given: str) -> VectorError:
    return VectorError(f"a vector goes into {count}writable numbers of float32 ('f') or uint8 ('B'), not into {given}")


def write(numbers: Sequence[float], fields: Sequence[Field], array: Any) -> None:
    """Write a finished vector into an array, in a game without a faster method. Raises: VectorError."""
    target, in_bytes = opened(array)
    fill(target, blank(len(numbers), in_bytes))
    for field in fields:
        for place in range(field.offset, field.offset + field.size):
            number = numbers[place]
            target[place] = min(max(round(number / field.unit) + field.zero, 0), 255) if in_bytes else number


def blank(length: int, in_bytes: bool) -> Any:
    """Return a vector of zeros as a writable memoryview."""
    return memoryview(bytearray(length)) if in_bytes else memoryview(bytearray(4 * length)).cast("f")


def layout(fields: Sequence[Field]) -> tuple[dict[str, int], int]:
    """Return the offsets at which an encoder of these fields writes, by name, and the length of the vector."""
    return {field.name: field.offset for field in fields}, sum(field.size for field in fields)
