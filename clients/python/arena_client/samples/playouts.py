"""A continuation of a round that fits a seat's knowledge: an imagined game, played to its end.

Who bid five tricks holds other cards than who bid none. So of some games that the rules allow, the one may be taken
whose hands look most like what their seats announced. In it everybody plays by one plain rule. What the round's points
are worth depends on the match: who is well ahead before the last round need not win it, only not lose much.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import erf, sqrt
from typing import Any

from arena_client.engine import MISSING, EngineMissingError

try:
    from engine.game import Game, RoundReport
except ModuleNotFoundError as error:
    raise EngineMissingError(MISSING) from error


TOGETHER = 4
"""Imagined games that are made at once, which costs less than one by one."""
FAR = 10
"""Rounds that are taken to follow in a match which a score ends."""


class Playouts(ABC):
    """The rest of a round as one seat may imagine it."""

    tried = 1
    """Games of which the one is taken that fits best; more where what was announced says much about the hands."""
    word = 0
    """Imagined games, by card in hand, that the counter's word is worth."""
    spread: float
    """By how much the points of two seats differ in a round: the standard deviation."""

    def __init__(self, game: Game, view: Any) -> None:
        """`view` is the game's `SeatView`."""
        self.game = game
        self.view = view
        self.made: Sequence[Any] = ()
        standing = self.standing()
        self.leads = [standing[view.seat] - each for each in standing]
        left = view.rounds - 1 - view.round if view.rounds else FAR
        self.doubt = self.spread * sqrt(left)
        self.point = (self.ahead(self.spread / 2) - self.ahead(-self.spread / 2)) / self.spread
        """The worth of one more point now."""

    def standing(self) -> Sequence[int]:
        """The points by seat before the round, with all that they will cost."""
        scores: Sequence[int] = self.view.scores
        return scores

    def misfit(self, state: Any) -> float:
        """Return the mismatch between the others' hands and their announcements."""
        return 0.0

    @abstractmethod
    def copy(self, state: Any) -> Any:
        """A copy whose next round costs no shuffling: nobody will look at its cards."""

    @abstractmethod
    def choose(self, state: Any, seat: int) -> int:
        """Return a seat's choice by the plain rule."""

    @abstractmethod
    def points(self, report: RoundReport) -> Sequence[int]:
        """Return the points of the round by seat, with all that it costs later."""

    def ahead(self, more: float) -> float:
        """The chance to end the match ahead of another seat, with so many points more than each in this round."""
        return self.worth([more * (seat == self.view.seat) for seat in range(self.view.seats)])

    def worth(self, points: Sequence[float]) -> float:
        """The chance to end the match ahead of another seat, the mean over the others, with these points by seat."""
        seat, chances = self.view.seat, 0.0
        for other, lead in enumerate(self.leads):
            if other != seat:
                lead += points[seat] - points[other]
                chances += (1 + erf(lead / self.doubt / sqrt(2)) if self.doubt else (lead > 0) + (lead >= 0)) / 2
        return chances / (len(points) - 1)

    def imagine(self) -> Any:
        """A game that the seat could be in, and whose hands go with what was announced."""
        if not self.made:
            self.made = self.game.sample_many(self.view, random, TOGETHER * self.tried)
        fits, self.made = self.made[: self.tried], self.made[self.tried :]
        return min(fits, key=self.misfit)

    def worths(self, choices: Iterable[int]) -> dict[int, float]:
        """Return the worth of each choice in one more imagined game."""
        best, seat, found = self.imagine(), self.view.seat, {}
        for choice in choices:
            state = self.copy(best)
            state.apply(choice, seat)
            while state.report is None:
                player = state.player
                state.apply(self.choose(state, player), player)
            found[choice] = self.worth(self.points(state.report))
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
