"""6th Sense as a game of the arena: its catalogue, its options, and a new game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
from engine.sixth_sense.cards import ACTIONS, CARDS, COLOURS
from engine.sixth_sense.observation import LONGEST, MOST_LOST, fields
from engine.sixth_sense.sample import sample, sample_many, truth
from engine.sixth_sense.state import GameConstants, SixthSenseState
from engine.sixth_sense.view import SixthSenseView

HAND_SIZE: Final = {2: 15, 3: 14, 4: 14, 5: 13, 6: 11}
"""Cards dealt to each seat, by the number of seats (S2)."""
ROUNDS: Final = {2: 6, 3: 6, 4: 4, 5: 5, 6: 6}
"""Rounds of a game, by the number of seats (S3)."""
HIGHEST_TARGET: Final = 1000
MOST_WON: Final = 14
"""Points of the best possible round: a prediction of 14 that comes true (S14)."""
MOST_WON_BY_NOVICES: Final = 6
EXTRA_CHOICES: Final = 10
"""Maximum number of peeks and splits in a round: one for each of the five 8s and the five 12s (S12, S13)."""


class SixthSense:
    """A trick-taking game for 2 to 6: predict with a card of your hand how many tricks you will take."""

    name: str = "sixth_sense"
    title: str = "6th Sense"
    seats: range = range(2, 7)
    colours: tuple[str, ...] = COLOURS
    cards: tuple[Card, ...] = CARDS
    actions: tuple[Action, ...] = ACTIONS
    options: tuple[OptionSpec, ...] = (
        OptionSpec("novice", False, "no card is turned and there is no trump; points by distance: 6, 4, 3, 2, 1, 0"),
        OptionSpec(
            "target", 0, f"the score that ends the game, up to {HIGHEST_TARGET}; 0 for a fixed number of rounds"
        ),
        OptionSpec("late_trump", False, "the card is turned only when all predictions are in"),
    )

    def observation(self, seats: int) -> tuple[Field, ...]:
        """Describe the fields of the vector (see `engine.game.Game.observation`)."""
        return fields(seats, HAND_SIZE[seats])

    def longest(self, seats: int, **options: Option) -> int:
        """Return an upper bound on the number of choices: one for every card, and the questions about 8s and 12s."""
        rounds = LONGEST if self._settled(seats, options)["target"] else ROUNDS[seats]
        return rounds * (seats * HAND_SIZE[seats] + EXTRA_CHOICES)

    def points(self, seats: int, **options: Option) -> range:
        """Return a range that contains every score: from the worst possible round every time to the best."""
        settled = self._settled(seats, options)
        rounds = LONGEST if settled["target"] else ROUNDS[seats]
        if settled["novice"]:
            return range(rounds * MOST_WON_BY_NOVICES + 1)
        return range(-rounds * MOST_LOST, rounds * MOST_WON + 1)

    def new(self, seats: int, decks: Decks, **options: Option) -> SixthSenseState:
        """Return a new game with its first round dealt. Raises: OptionError: see `engine.game.Game.new`."""
        settled = self._settled(seats, options)
        novice, target, late_trump = bool(settled["novice"]), int(settled["target"]), bool(settled["late_trump"])
        return SixthSenseState(
            GameConstants(seats, HAND_SIZE[seats], 0 if target else ROUNDS[seats], target, novice, late_trump, decks)
        )

    def sample(self, view: SeatView, rng: Chance) -> SixthSenseState:
        """Sample a game that fits the view. Raises: ViewError: see `engine.game.Game.sample`."""
        return sample(self._own(view), rng)

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> list[SixthSenseState]:
        """Sample several games that fit the view. Raises: ViewError: see `engine.game.Game.sample`."""
        return sample_many(self._own(view), rng, count)

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        """Sample a deal and choices that fit the view. Raises: ViewError: see `engine.game.Game.sample`."""
        return truth(self._own(view), rng)

    def _own(self, view: SeatView) -> SixthSenseView:
        if not isinstance(view, SixthSenseView):
            raise ViewError(f"a {type(view).__name__} is no view of {self.title}")
        return view

    def _settled(self, seats: int, options: Mapping[str, Option]) -> dict[str, Option]:
        """Return all options; OptionError for options that the game lacks or that cannot be combined."""
        settled = settle_options(self, seats, options)
        if not 0 <= settled["target"] <= HIGHEST_TARGET:
            raise OptionError(f"option target takes 0 to {HIGHEST_TARGET}, not {settled['target']}")
        if settled["novice"] and settled["late_trump"]:
            raise OptionError("option late_trump does not go with novice: there no card is turned")
        return settled


SIXTH_SENSE: Final[Game] = SixthSense()
