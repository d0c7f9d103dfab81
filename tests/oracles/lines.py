"""All lines of play of a reference game, followed one by one without the engine."""

from __future__ import annotations

from collections import Counter
from typing import Protocol, Self


class Plain(Protocol):
    """The common interface of the reference implementations."""

    scores: list[int]
    round: int
    over: bool

    def waiting(self) -> list[int]: ...
    def legal(self, seat: int) -> set[str]: ...
    def act(self, seat: int, name: str) -> None: ...
    def clone(self) -> Self: ...


def all_lines(game: Plain, depth: int | None) -> tuple[Counter[int], Counter[tuple[tuple[int, ...], bool]]]:
    """Follow all lines to the end of the round or to a depth. Return the number of lines with 1, 2 … choices, and how
    often each outcome occurs.
    """
    lengths: Counter[int] = Counter()
    ends: Counter[tuple[tuple[int, ...], bool]] = Counter()
    unfinished = [(0, game)]
    while unfinished:
        length, line = unfinished.pop()
        if line.over or line.round != game.round:
            ends[tuple(line.scores), line.over] += 1
        elif length != depth:
            seat = line.waiting()[0]
            for name in line.legal(seat):
                after = line.clone()
                after.act(seat, name)
                lengths[length + 1] += 1
                unfinished.append((length + 1, after))
    return lengths, ends
