"""Nullern as a game of the house: its catalogue, and a new game."""

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
    ViewError,
    settle_options,
)
from engine.nullern.cards import ACTIONS, CARDS, COLOURS
from engine.nullern.sample import sample
from engine.nullern.state import NullernState
from engine.nullern.view import NullernView


class Nullern:
    """A trick-taking game for 2 to 7: bid openly how many tricks you will take, best of all none."""

    name: str = "nullern"
    title: str = "Nullern"
    seats: range = range(2, 8)
    colours: tuple[str, ...] = COLOURS
    cards: tuple[Card, ...] = CARDS
    actions: tuple[Action, ...] = ACTIONS
    options: tuple[OptionSpec, ...] = ()

    def new(self, seats: int, decks: Decks, **options: Option) -> NullernState:
        """A game about to begin, its first round dealt; OptionError as in `engine.game.Game.new`."""
        settle_options(self, seats, options)
        return NullernState(seats, decks)

    def sample(self, view: SeatView, rng: Chance) -> NullernState:
        """A game that the seat could be in; ViewError as in `engine.game.Game.sample`."""
        if not isinstance(view, NullernView):
            raise ViewError(f"a {type(view).__name__} is no view of {self.title}")
        return sample(view, rng)


NULLERN: Final[Game] = Nullern()
