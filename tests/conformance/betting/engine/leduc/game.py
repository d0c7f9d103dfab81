"""Leduc poker as a game of the engine."""

from __future__ import annotations

from typing import Final

from engine.leduc.cards import ACTIONS, CARDS, COLOURS
from engine.leduc.observation import LONGEST, MOST, MOST_ROUNDS, fields
from engine.leduc.sample import sample, truth
from engine.leduc.state import SEATS, LeducState
from engine.leduc.view import LeducView

from engine.game import (
    Action,
    Card,
    Chance,
    Decks,
    Game,
    Option,
    OptionError,
    OptionSpec,
    SeatView,
    Truth,
    ViewError,
    settle_options,
)
from engine.observation import Field


class Leduc:
    """A betting game for two seats with six cards: one in each hand, one on the board."""

    name: str = "leduc"
    title: str = "Leduc Poker"
    seats: range = range(SEATS, SEATS + 1)
    colours: tuple[str, ...] = COLOURS
    cards: tuple[Card, ...] = CARDS
    actions: tuple[Action, ...] = ACTIONS
    options: tuple[OptionSpec, ...] = (OptionSpec("rounds", 8, "how many rounds are played, 1 to 50"),)

    def observation(self, seats: int) -> tuple[Field, ...]:
        """Return the fields of a vector."""
        return fields()

    def longest(self, seats: int, **options: Option) -> int:
        """Return the maximum number of choices: two betting rounds of maximum length in each round."""
        return 2 * LONGEST * self._rounds(seats, options)

    def points(self, seats: int, **options: Option) -> range:
        """Return the range of the scores. One seat's loss is the other seat's gain (L6)."""
        most = MOST * self._rounds(seats, options)
        return range(-most, most + 1)

    def new(self, seats: int, decks: Decks, **options: Option) -> LeducState:
        """Return a new game."""
        return LeducState(self._rounds(seats, options), decks)

    def sample(self, view: SeatView, rng: Chance) -> LeducState:
        """Return a game that the seat could be in."""
        return sample(self._own(view), rng)

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> list[LeducState]:
        """Return several games that the seat could be in."""
        return [self.sample(view, rng) for _ in range(count)]

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        """Return a deal and actions that the view allows."""
        return truth(self._own(view), rng)

    def _own(self, view: SeatView) -> LeducView:
        if not isinstance(view, LeducView):
            raise ViewError(f"a {type(view).__name__} is no view of {self.title}")
        return view

    def _rounds(self, seats: int, options: dict[str, Option]) -> int:
        rounds = int(settle_options(self, seats, options)["rounds"])
        if not 1 <= rounds <= MOST_ROUNDS:
            raise OptionError(f"option rounds takes 1 to {MOST_ROUNDS}, not {rounds}")
        return rounds


LEDUC: Final[Game] = Leduc()
