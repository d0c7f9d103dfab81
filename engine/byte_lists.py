"""Lists of small numbers as strings of bytes, which cost less than any other to copy, to extend and to send."""

from __future__ import annotations

from typing import Final

SINGLE: Final = tuple(bytes([number]) for number in range(256))
"""By number, the list of it alone."""
BLANK: Final = tuple(map(bytes, range(256)))
"""By length, the list of zeros."""


def put(numbers: bytes, place: int, number: int) -> bytes:
    """The list with another number in a place."""
    return numbers[:place] + SINGLE[number] + numbers[place + 1 :]
