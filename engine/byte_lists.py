"""Lists of small numbers as `bytes`: the cheapest kind of list to copy, extend and send."""

from __future__ import annotations

from typing import Final

SINGLE: Final = tuple(bytes([number]) for number in range(256))
"""For each number, the list that contains only this number."""
BLANK: Final = tuple(map(bytes, range(256)))
"""For each length, the list of zeros."""


def put(numbers: bytes, place: int, number: int) -> bytes:
    """Return the list with the number at one place replaced."""
    return numbers[:place] + SINGLE[number] + numbers[place + 1 :]
