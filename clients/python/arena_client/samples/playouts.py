"""How a round may go on for all that a seat knows: an imagined game that fits what was announced, played to its end.

Who bid five tricks holds other cards than who bid none. So of some games that the rules allow, the one may be taken
whose hands look most like what their seats announced. In it everybody plays by one plain rule.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from arena_client.engine import MISSING, EngineMissingError

try:
    from engine.game import Game, RoundReport, SeatView
except ModuleNotFoundError as error:
    raise EngineMissingError(MISSING) from error


class Playouts(ABC):
    """The rest of a round as one seat may imagine it."""

    tried = 1
    """Games of which the one is taken that fits best; more where what was announced says much about the hands."""

    def __init__(self, game: Game, view: SeatView) -> None:
        self.game = game
        self.view: Any = view

    def misfit(self, state: Any) -> float:
        """How badly the others' hands go with what they announced."""
        return 0.0

    @abstractmethod
    def copy(self, state: Any) -> Any:
        """A copy whose next round costs no shuffling: nobody will look at its cards."""

    @abstractmethod
    def choose(self, state: Any, seat: int) -> int:
        """What a seat does by the plain rule."""

    @abstractmethod
    def points(self, report: RoundReport) -> Sequence[int]:
        """What the round brought by seat, with all that it costs later."""

    def worths(self, choices: Iterable[int]) -> dict[int, float]:
        """What each choice brings in one more imagined game: points above the mean of the others."""
        fits = [self.game.sample(self.view, random) for _ in range(self.tried)]
        best, seat = min(fits, key=self.misfit), self.view.seat
        found = {}
        for choice in choices:
            state = self.copy(best)
            state.apply(choice, seat)
            while state.report is None:
                player = state.player
                state.apply(self.choose(state, player), player)
            points = self.points(state.report)
            found[choice] = points[seat] - (sum(points) - points[seat]) / (len(points) - 1)
        return found


def in_order(_round: int, _size: int, count: int) -> Sequence[int]:
    """A deck that nobody shuffled."""
    return range(count)


def take_or_duck(legal: Sequence[int], ranks: bytes, ahead: int, *, wanted: bool, last: bool) -> int:
    """Takes the trick, as cheaply as it can where nobody comes after; or throws away the highest card that does not."""
    taking = [number for number in legal if ranks[number] > ahead]
    if wanted:
        if not taking:
            return min(legal, key=ranks.__getitem__)
        return min(taking, key=ranks.__getitem__) if last else max(taking, key=ranks.__getitem__)
    if len(taking) == len(legal):
        return max(taking, key=ranks.__getitem__) if last else min(taking, key=ranks.__getitem__)
    return max([number for number in legal if ranks[number] <= ahead], key=ranks.__getitem__)
