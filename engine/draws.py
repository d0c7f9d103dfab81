"""Random draws for dealing: outcomes and cards.

All are exactly uniform; random numbers come from the caller. `Draws` asks the source once for each draw. This must
never change, because the choices of frozen house bots depend on it. `BulkDraws` takes bytes in bulk and draws each card
from one byte, for many worlds at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import perm
from typing import Final

from engine.game import Chance

_BULK: Final = 2048
"""Bytes requested at a time."""
_MOST: Final = bytes([255, *(255 - 256 % left for left in range(1, 257))])
"""For each number of cards left, the largest usable byte. The bytes up to it are shared equally among the cards."""


class Draws:
    """Draws from a source of randomness."""

    __slots__ = ("_chance",)

    def __init__(self, chance: Chance) -> None:
        """Set up with the source."""
        self._chance: Final = chance

    def randrange(self, stop: int, /) -> int:
        """Return one of 0 … stop−1."""
        return self._chance.randrange(stop)

    def one_of(self, sums: Sequence[int]) -> int:
        """Return one of several outcomes by weight, given the cumulative weights."""
        return bisect_right(sums, self.randrange(sums[-1]))

    def draw(self, cards: list[int], count: int) -> None:
        """Move `count` random cards to the front; every selection in every order is equally likely."""
        size = len(cards)
        number = self.randrange(perm(size, count))
        for place in range(count):
            number, step = divmod(number, size - place)
            other = place + step
            cards[place], cards[other] = cards[other], cards[place]


class BulkDraws(Draws):
    """Draws that are faster when there are many. The object is also a source of randomness.

    Satisfies `engine.game.Chance`. Bytes that would favour some outcomes are skipped.
    """

    __slots__ = ("_bytes", "_next")

    def __init__(self, chance: Chance) -> None:
        """Set up with the source."""
        super().__init__(chance)
        self._bytes = b""
        self._next = 0

    def randrange(self, stop: int, /) -> int:
        """Return one of 0 … stop−1."""
        bits = (stop - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            number = int.from_bytes(self.randbytes(size), "big") >> (8 * size - bits)
            if number < stop:
                return number

    def randbytes(self, n: int, /) -> bytes:
        """Return `n` random bytes."""
        start = self._next
        if start + n > len(self._bytes):
            self._bytes = self._chance.randbytes(max(n, _BULK))
            start = 0
        self._next = start + n
        return self._bytes[start : start + n]

    def one_of(self, sums: Sequence[int]) -> int:
        """Return one of several outcomes by weight, given the cumulative weights."""
        return super().one_of(sums) if len(sums) > 1 else 0

    def draw(self, cards: list[int], count: int) -> None:
        """Move `count` random cards to the front, like the shuffle of `engine.deal` but with bytes, not words."""
        size = len(cards)
        if size > 256:
            super().draw(cards, count)
            return
        count = min(count, size - 1)  # The last card has only one possible place.
        numbers = self._bytes
        end, at, place = len(numbers), self._next, 0
        while place < count:
            if at == end:
                numbers = self._bytes = self._chance.randbytes(_BULK)
                end, at = _BULK, 0
            number = numbers[at]
            at += 1
            left = size - place
            if number <= _MOST[left]:
                other = place + number % left
                cards[place], cards[other] = cards[other], cards[place]
                place += 1
        self._next = at
