"""The tables of a game: every number of seats with every set of options, derived from the game's code alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from engine.deal import SeededDecks
from engine.game import OVER, Game, Option, OptionError, OptionSpec, State


@dataclass(frozen=True, slots=True)
class Table:
    """A game with a number of seats and a value for each option."""

    game: Game
    seats: int
    options: Mapping[str, Option]
    chance: int = 0
    """Seed of deals and choices."""

    def __str__(self) -> str:
        given = {spec.name: spec.default for spec in self.game.options}
        changed = [f"{name}={value}" for name, value in self.options.items() if value != given[name]]
        chance = [f"chance-{self.chance}"] if self.chance else []
        return "-".join([self.game.name, str(self.seats), *changed, *chance])

    def new(self, seed: int = 0) -> State[Any, Any]:
        """Return a new game. The same seed gives the same deals."""
        return self.game.new(self.seats, SeededDecks(b"%16d%16d" % (self.chance, seed)), **self.options)

    def choose(self, state: State[Any, Any], seat: int, rng: Random) -> int:
        """Return a random legal action. Each kind is equally likely, because rules and secrets mostly depend on rare
        kinds.
        """
        by_kind: dict[str, list[int]] = {}
        for action in state.legal(seat):
            by_kind.setdefault(self.game.actions[action].kind, []).append(action)
        return rng.choice(by_kind[rng.choice(sorted(by_kind))])

    def step(self, state: State[Any, Any], rng: Random) -> tuple[int, int]:
        """Make a choice for one of the seats that owe a choice. Return the action and the seat."""
        seat = rng.choice(state.waiting())
        action = self.choose(state, seat, rng)
        state.apply(action, seat)
        return action, seat

    def walk(self, seed: int, rng: Random) -> Iterator[State[Any, Any]]:
        """Yield a state before every choice of a whole game and after the last choice."""
        state = self.new(seed)
        yield state
        while state.player != OVER:
            self.step(state, rng)
            yield state

    def facts(self, state: State[Any, Any]) -> tuple[Any, ...]:
        """Return all facts about a state."""
        return (
            state.player,
            state.round,
            tuple(state.scores),
            state.report,
            state.waiting(),
            [(list(state.legal(seat)), state.fallback(seat)) for seat in state.waiting()],
            [state.view(seat) for seat in range(self.seats)],
            state.ranking(),
        )


def tables(game: Game) -> list[Table]:
    """Return every table of a game: both values of each yes/no option; for other options, the default and one other
    value.
    """
    found = []
    for seats, values in product(game.seats, product(*map(_values, game.options))):
        table = Table(game, seats, {spec.name: value for spec, value in zip(game.options, values, strict=True)})
        try:
            table.new()
        except OptionError:
            continue  # a combination that the game does not offer
        found.append(table)
    return found


def _values(spec: OptionSpec) -> tuple[Option, Option]:
    return spec.default, not spec.default if isinstance(spec.default, bool) else spec.default + 1
