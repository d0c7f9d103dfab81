"""Continuations of a round: sampled games that fit a seat's view, played to the end of the round.

A seat that bid five tricks probably holds better cards than a seat that bid 0. So several games are sampled, and the
game whose hands fit the announcements best is used. In that game every seat plays by one plain rule. The value of
points depends on the match: a leader can afford to lose the last round by a little.
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
"""Number of games to sample at once, which is cheaper than one by one."""
FAR = 10
"""Number of rounds assumed to follow in a match that ends by score."""


class Playouts(ABC):
    """The rest of a round from one seat's view."""

    tried = 1
    """Number of games to sample, of which the best-fitting one is used. It is larger if announcements reveal much
    about hands.
    """
    word = 0
    """Weight of the counter's estimates: they count as this many sampled games per card in hand."""
    spread: float
    """Standard deviation of the difference between two seats' points in a round."""

    def __init__(self, game: Game, view: Any) -> None:
        """Start from `view`, the game's `SeatView`."""
        self.game = game
        self.view = view
        self.made: Sequence[Any] = ()
        standing = self.standing()
        self.leads = [standing[view.seat] - each for each in standing]
        left = view.rounds - 1 - view.round if view.rounds else FAR
        self.doubt = self.spread * sqrt(left)
        self.point = (self.ahead(self.spread / 2) - self.ahead(-self.spread / 2)) / self.spread
        """The value of one more point now."""

    def standing(self) -> Sequence[int]:
        """Return the points by seat before the round, including all later costs."""
        scores: Sequence[int] = self.view.scores
        return scores

    def misfit(self, state: Any) -> float:
        """Return the misfit between the others' hands and their announcements; 0 is a perfect fit."""
        return 0.0

    @abstractmethod
    def copy(self, state: Any) -> Any:
        """Return a copy whose next round is dealt without shuffling, since its cards do not matter."""

    @abstractmethod
    def choose(self, state: Any, seat: int) -> int:
        """Return a seat's choice by the plain rule."""

    @abstractmethod
    def points(self, report: RoundReport) -> Sequence[int]:
        """Return the points of the round by seat, including all later costs."""

    def ahead(self, more: float) -> float:
        """Return the chance of ending the match ahead of another seat, with `more` points than that
        seat in this round.
        """
        return self.worth([more * (seat == self.view.seat) for seat in range(self.view.seats)])

    def worth(self, points: Sequence[float]) -> float:
        """Return the mean chance of ending the match ahead of another seat, with these points by seat."""
        seat, chances = self.view.seat, 0.0
        for other, lead in enumerate(self.leads):
            if other != seat:
                lead += points[seat] - points[other]
                chances += (1 + erf(lead / self.doubt / sqrt(2)) if self.doubt else (lead > 0) + (lead >= 0)) / 2
        return chances / (len(points) - 1)

    def imagine(self) -> Any:
        """Sample a game that fits the view and whose hands fit the announcements."""
        if not self.made:
            self.made = self.game.sample_many(self.view, random, TOGETHER * self.tried)
        fits, self.made = self.made[: self.tried], self.made[self.tried :]
        return min(fits, key=self.misfit)

    def worths(self, choices: Iterable[int]) -> dict[int, float]:
        """Return the value of each choice in one more sampled game."""
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
    """Return a deck in order, without shuffling."""
    return range(count)


def take_or_duck(legal: Sequence[int], ranks: bytes, ahead: int, *, wanted: bool, last: bool) -> int:
    """Take a wanted trick; otherwise throw away the highest card that does not take it.

    The last seat of a trick takes it with the lowest sufficient card.
    """
    taking = [number for number in legal if ranks[number] > ahead]
    if wanted:
        if not taking:
            return min(legal, key=ranks.__getitem__)
        return min(taking, key=ranks.__getitem__) if last else max(taking, key=ranks.__getitem__)
    if len(taking) == len(legal):
        return max(taking, key=ranks.__getitem__) if last else min(taking, key=ranks.__getitem__)
    return max([number for number in legal if ranks[number] <= ahead], key=ranks.__getitem__)
