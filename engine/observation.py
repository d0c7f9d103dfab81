"""A view as numbers: the fields of a vector that learning code reads, and how they lie one after the other.

A game's table of fields is data, and the same table says where its encoder writes, so that documentation, shape and
content cannot drift apart. Numbers are small floats; where seats are counted, the seat that looks is 0, the one to its
left 1 and so on, so that what a bot learns on one seat serves it on all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple


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


def laid_out(parts: Iterable[Part]) -> tuple[Field, ...]:
    """Lay the parts one after the other."""
    fields: list[Field] = []
    offset = 0
    for part in parts:
        fields.append(Field(part.name, offset, part.shape, part.low, part.high, part.meaning))
        offset += fields[-1].size
    return tuple(fields)


class Layout(NamedTuple):
    """The offsets at which an encoder writes."""

    at: Mapping[str, int]
    """The offset of each field, by name."""
    length: int
    """How many numbers the vector has."""


def layout(fields: Sequence[Field]) -> Layout:
    """Return the offsets at which an encoder of these fields writes."""
    return Layout({field.name: field.offset for field in fields}, sum(field.size for field in fields))
