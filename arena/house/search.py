"""Search by playouts, for house bots: what a choice brings in games that the seat could be in.

Another house bot plays these on for every seat. Of the choices that it likes best, each is tried in the same imagined
games; after every part of the work the worse half is given up. What is left must beat that bot's own choice clearly
enough. Work is counted in choices made, never in time, and all chance follows from the view: the same view, the same
choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256, shake_128
from math import sqrt
from typing import Final, TypeAlias

from engine.game import RoundReport, SeatView, State

Decide: TypeAlias = Callable[[SeatView, Sequence[int], bytes], int]
"""`arena.house.HouseBot.decide` of a bot in which chance has no part."""

CAUTION: Final = 0.5
"""Standard errors by which a choice must beat the other bot's own."""
NO_CHANCE: Final = b""
_SPARE: Final = 8
"""Bytes drawn beyond those that a number needs, so that all are as likely but for 1 in 2⁶⁴."""


class ViewChance:
    """A source of numbers that follow from a view: an `engine.game.Chance`, the same in every version of Python."""

    def __init__(self, view: SeatView) -> None:
        self._seed = sha256(repr(tuple(view)).encode()).digest()
        self._drawn = 0

    def randrange(self, stop: int) -> int:
        """One of 0 … stop−1, each equally likely."""
        return int.from_bytes(self.randbytes((stop.bit_length() >> 3) + 1 + _SPARE), "big") % stop

    def randbytes(self, n: int) -> bytes:
        """So many bytes."""
        self._drawn += 1
        return shake_128(self._seed + self._drawn.to_bytes(8, "big")).digest(n)


class Unshuffled:
    """Decks that cost nothing, for rounds at which nobody will look."""

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """The first cards, in order."""
        return range(count)

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        """Always the first face."""
        return 0


class Playouts(ABC):
    """Games that a seat could be in, and how each ends."""

    def __init__(self, seat: int, decide: Decide) -> None:
        """`decide` chooses for every seat."""
        self._seat = seat
        self._decide = decide
        self.work = 0
        """Choices that were asked for."""

    @abstractmethod
    def worlds(self) -> Iterator[State[SeatView, RoundReport]]:
        """Imagine games, without end."""

    @abstractmethod
    def copy(self, world: State[SeatView, RoundReport]) -> State[SeatView, RoundReport]:
        """Return a copy whose next round costs no shuffling: nobody will look at its cards."""

    @abstractmethod
    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return what a round brought by seat, with all that it costs later."""

    def after(self, world: State[SeatView, RoundReport], action: int) -> int:
        """Return what an action comes to: points of the round above the others', added up over these."""
        state = self.copy(world)
        state.apply(action, self._seat)
        self.work += 1
        while state.report is None:
            seat = state.player
            legal = state.legal(seat)
            if len(legal) == 1:
                state.apply(legal[0], seat)
            else:
                state.apply(self._decide(state.view(seat), legal, NO_CHANCE), seat)
                self.work += 1
        points = self.worth(state.report)
        return len(points) * points[self._seat] - sum(points)


def ranked(decide: Decide, view: SeatView, legal: Sequence[int], most: int) -> list[int]:
    """Return so many actions at most, from the one that a bot would choose on."""
    left = [*legal]
    found = list[int]()
    while left and len(found) < most:
        found.append(decide(view, left, NO_CHANCE) if len(left) > 1 else left[0])
        left.remove(found[-1])
    return found


def best_of(actions: Sequence[int], playouts: Playouts, work: int, most: int) -> int:
    """Return the action that comes to most, with so much work and so many worlds at most; in doubt the first."""
    values = {action: list[int]() for action in actions}
    left = [*actions]
    stages = max(1, (len(left) - 1).bit_length())
    worlds = playouts.worlds()
    for stage in range(1, stages + 1):
        while playouts.work * stages < work * stage and len(values[left[0]]) < most:
            world = next(worlds)
            for action in left:
                values[action].append(playouts.after(world, action))
        left.sort(key=lambda action: -sum(values[action]))
        if stage < stages:
            left = left[: max(2, (len(left) + 1) // 2)]
    return left[0] if _is_better(values[left[0]], values[actions[0]]) else actions[0]


def _is_better(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether an action came to more than another in the same worlds, by more than the doubt about it."""
    differences = [mine - its for mine, its in zip(one, other, strict=False)]  # the other may have been given up
    count = len(differences)
    total = sum(differences)
    squares = sum([each * each for each in differences])
    # total / count > CAUTION * standard error, in whole numbers as far as that goes
    return total > 0 and total > CAUTION * sqrt(max(0.0, (count * squares - total * total) / max(1, count - 1)))
