"""Integers in addresses, parsed by one rule in paths and in queries."""

from __future__ import annotations

from typing import Final

from starlette.convertors import Convertor

from arena.web.reading.reader import Missing

MOST_SEASONS: Final = 1_000_000
"""Largest season number in an address."""
SHOWN: Final = 40
"""Maximum number of characters of an invalid number that an error response quotes."""


def whole_number(text: str, least: int, most: int) -> int | None:
    """Return a number written in ASCII digits, or None for any other text or a number out of bounds.

    Check the length first: Python refuses to parse thousands of digits, even if all of them are zeros.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    number = int(text)
    return number if least <= number <= most else None


class PathNumber(Convertor[int]):
    """A converter for a number in the path of a page. It raises Missing if the number is too large."""

    regex = "[0-9]+"

    def __init__(self, most: int) -> None:
        self._most = most

    def convert(self, value: str) -> int:
        """Return the number."""
        number = whole_number(value, 0, self._most)
        if number is None:
            raise Missing(f"numbers in an address are at most {self._most}, not {value[:SHOWN]!r}")
        return number

    def to_string(self, value: int) -> str:
        """Return the number in its form for paths."""
        return str(value)
