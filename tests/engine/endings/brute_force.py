"""Every line of an ending, followed in the naive games: slow, plain, and without a line of the engine or the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PlainWorth = Callable[[Any], Sequence[int]]
"""What a naive game's report of a round was worth, by seat."""


def above_others(worth: Sequence[int]) -> list[float]:
    """The points of each seat less the mean of the others'."""
    others = len(worth) - 1
    return [own - (sum(worth) - own) / others for own in worth]


def best_line(plain: Any, order: Callable[[str], int], worth: PlainWorth, number: int) -> list[float]:
    """What each seat comes to when every seat in turn takes what is best for itself, of equals the first in order."""
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
