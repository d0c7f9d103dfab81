"""Brute force over every line of an ending in the reference implementation, without code of the engine or the
solver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PlainWorth = Callable[[Any], Sequence[int]]
"""Function that returns the value of a round for each seat, from the reference implementation's report."""


def above_others(worth: Sequence[int]) -> list[float]:
    """Return each seat's points minus the mean of the other seats' points."""
    others = len(worth) - 1
    return [own - (sum(worth) - own) / others for own in worth]


def best_line(plain: Any, order: Callable[[str], int], worth: PlainWorth, number: int) -> list[float]:
    """Return each seat's value if every seat, at its turn, maximises its own value. Among equally good choices, a seat
    makes the first.
    """
    if plain.over or plain.round != number:
        return above_others(list(worth(plain.last_round)))
    seat = plain.waiting()[0]
    found: list[float] = []
    for name in sorted(plain.legal(seat), key=order):
        after = plain.clone()
        after.act(seat, name)
        values = best_line(after, order, worth, number)
        if not found or values[seat] > found[seat]:
            found = values
    return found
