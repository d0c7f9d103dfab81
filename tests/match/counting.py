"""A very small game for tests of matches. All seats secretly guess at once, then add one or two in turn. It has two
rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from operator import index
from typing import Any, Final, NamedTuple, SupportsIndex

from engine.game import OVER, Action, Card, Chance, Decks, Option, OptionSpec, SeatView, Truth, settle_options
from engine.observation import Field, Part, laid_out
from tests.engine.decks import Arranged

GUESSES: Final = 4


class CountingView(NamedTuple):
    seat: int
    total: int
    guess: int | None
    secret: int


class CountingReport(NamedTuple):
    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    guesses: tuple[int, ...]


class CountingState:
    """Actions 0–3 are guesses, 4 and 5 add one or two. A seat whose guess is the total modulo four gets a point."""

    def __init__(self, seats: int, rounds: int, decks: Decks) -> None:
        self._seats, self._rounds, self._decks = seats, rounds, decks
        self.round = 0
        self.scores: list[int] = [0] * seats
        self.report: CountingReport | None = None
        self._deal()

    def _deal(self) -> None:
        self.guesses: list[int | None] = [None] * self._seats
        self.total = 0
        self.turns = 0
        self.secrets = list(self._decks(self.round, 10, self._seats))

    @property
    def player(self) -> int:
        return min(self.waiting(), default=OVER)

    def waiting(self) -> tuple[int, ...]:
        if self.report is not None and self.report.round == self._rounds - 1:
            return ()
        if None in self.guesses:
            return tuple(seat for seat, guess in enumerate(self.guesses) if guess is None)
        return (self.turns % self._seats,)

    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        return range(GUESSES) if None in self.guesses else (4, 5)

    def fallback(self, seat: SupportsIndex) -> int:
        return self.legal(seat)[0]

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        action = index(action)
        assert seat in self.waiting()
        assert action in self.legal(seat)
        if None in self.guesses:
            self.guesses[seat] = action
            return
        self.total += action - 3
        self.turns += 1
        if self.turns == 2 * self._seats:
            points = tuple(int(guess == self.total % GUESSES) for guess in self.guesses)
            self.scores = [score + point for score, point in zip(self.scores, points, strict=True)]
            guesses = tuple(guess for guess in self.guesses if guess is not None)
            self.report = CountingReport(self.round, points, tuple(self.scores), guesses)
            if self.round + 1 < self._rounds:
                self.round += 1
                self._deal()

    def clone(self) -> CountingState:
        return deepcopy(self)

    def view(self, seat: SupportsIndex) -> CountingView:
        return CountingView(index(seat), self.total, self.guesses[seat], self.secrets[seat])

    def vector(self, seat: SupportsIndex) -> list[float]:
        guess = self.guesses[seat]
        return [float(self.total), -1.0 if guess is None else float(guess), float(self.secrets[seat])]

    def vector_into(self, seat: SupportsIndex, array: Any) -> None:
        raise NotImplementedError("nobody learns this game")

    def ranking(self) -> tuple[int, ...]:
        return tuple(1 + sum(other > score for other in self.scores) for score in self.scores)


class CountingGame:
    """The counting game."""

    name = "counting"
    title = "Counting"
    seats = range(2, 6)
    colours = ("grey",)
    cards = tuple(Card(f"grey {value}", 0, (value,)) for value in range(10))
    actions = (
        *(Action(f"guess {number}", "predict", value=number) for number in range(GUESSES)),
        Action("add 1", "play"),
        Action("add 2", "play"),
    )
    options = (OptionSpec("rounds", 2, "How many rounds are played."),)

    def observation(self, seats: int) -> tuple[Field, ...]:
        return laid_out(
            (
                Part("total", (), "what has been added up", 0, 4 * seats),
                Part("guess", (), "the own guess, -1 until there is one", -1, GUESSES - 1),
                Part("secret", (), "the own card", 0, 9),
            )
        )

    def longest(self, seats: int, **options: Option) -> int:
        return 3 * seats * int(settle_options(self, seats, options)["rounds"])

    def points(self, seats: int, **options: Option) -> range:
        return range(int(settle_options(self, seats, options)["rounds"]) + 1)

    def new(self, seats: int, decks: Decks, **options: Option) -> CountingState:
        return CountingState(seats, int(settle_options(self, seats, options)["rounds"]), decks)

    def sample(self, view: SeatView, rng: Chance) -> CountingState:
        raise NotImplementedError("nobody searches in this game")

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> list[CountingState]:
        raise NotImplementedError("nobody searches in this game")

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        raise NotImplementedError("nobody searches in this game")


IN_ORDER = Arranged(lambda number, _size, count: range(number, number + count))
"""Decks in their original order."""
