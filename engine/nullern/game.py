"""Nullern as a game of the arena: its catalogue, and a new game."""

from __future__ import annotations

from typing import Final

from engine.game import (
    Action,
    Card,
    Chance,
    Decks,
    Game,
    Option,
    OptionSpec,
    SeatView,
    Truth,
    ViewError,
    settle_options,
)
from engine.nullern.cards import ACTIONS, CARDS, COLOURS
from engine.nullern.observation import fields
from engine.nullern.sample import sample, sample_many, truth
from engine.nullern.score import HUPFER_COST
from engine.nullern.state import NullernState
from engine.nullern.view import NullernView
from engine.observation import Field

ROUNDS: Final = 20
DEALT: Final = 101
"""Number of cards that a seat gets in a whole game (N1)."""
BEST_ROUND: Final = 20
"""Points of the best possible round (N7)."""


class Nullern:
    """A trick-taking game for 2 to 7: bid openly how many tricks you will take, best of all none."""

    name: str = "nullern"
    title: str = "Nullern"
    seats: range = range(2, 8)
    colours: tuple[str, ...] = COLOURS
    cards: tuple[Card, ...] = CARDS
    actions: tuple[Action, ...] = ACTIONS
    options: tuple[OptionSpec, ...] = ()

    def observation(self, seats: int) -> tuple[Field, ...]:
        """Describe the fields of the vector (see `engine.game.Game.observation`)."""
        return fields(seats)

    def longest(self, seats: int, **options: Option) -> int:
        """Return the number of choices in every game: one bid per round and seat, and one play per card."""
        settle_options(self, seats, options)
        return seats * (ROUNDS + DEALT)

    def points(self, seats: int, **options: Option) -> range:
        """Return the range of scores: from a trickless Hupfer in every round to the best possible round every time."""
        settle_options(self, seats, options)
        return range(-ROUNDS * HUPFER_COST, ROUNDS * BEST_ROUND + 1)

    def new(self, seats: int, decks: Decks, **options: Option) -> NullernState:
        """Return a new game with its first round dealt. Raises: OptionError: see `engine.game.Game.new`."""
        settle_options(self, seats, options)
        return NullernState(seats, decks)

    def sample(self, view: SeatView, rng: Chance) -> NullernState:
        """Sample a game that fits the view. Raises: ViewError: see `engine.game.Game.sample`."""
        return sample(self._own(view), rng)

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> list[NullernState]:
        """Sample several games that fit the view. Raises: ViewError: see `engine.game.Game.sample`."""
        return sample_many(self._own(view), rng, count)

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        """Sample a deal and choices that fit the view. Raises: ViewError: see `engine.game.Game.sample`."""
        return truth(self._own(view), rng)

    def _own(self, view: SeatView) -> NullernView:
        if not isinstance(view, NullernView):
            raise ViewError(f"a {type(view).__name__} is no view of {self.title}")
        return view


NULLERN: Final[Game] = Nullern()
