"""Decks that a test arranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.deal import SeededDecks


class Arranged:
    """Decks from a function of round, size and count. Dice roll as with a key of zeros."""

    def __init__(self, deal: Callable[[int, int, int], Sequence[int]]) -> None:
        self._deal = deal

    def __call__(self, number: int, size: int, count: int) -> Sequence[int]:
        return self._deal(number, size, count)

    def roll(self, number: int, roll: int, faces: int) -> int:
        return SeededDecks(bytes(32)).roll(number, roll, faces)


UNSHUFFLED = Arranged(lambda _number, _size, count: range(count))
