"""The deals of a case, and the functions of a game that are needed to compute the case's fingerprint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from engine.deal import SeededDecks
from engine.game import Game
from tests.conformance.perft.cases import Case
from tests.oracles.lines import Plain


class Rules(NamedTuple):
    """A game and the second implementation of its rules."""

    game: Game
    plain: Callable[[Case], Plain]
    smaller: Callable[[Any, int], Any]
    """Function that creates a new game with smaller hands. The game's own hands would take too long to count."""


class CaseDecks:
    """The decks of a case."""

    def __init__(self, game: Game, case: Case) -> None:
        cards = {card.name: index for index, card in enumerate(game.cards)}
        dealt = [cards[name] for hand in case.hands for name in hand]
        if case.turned:
            dealt.append(cards[case.turned])
        assert len(set(dealt)) == len(dealt), f"case {case.name!r} deals a card twice"
        self._dealt = [*dealt, *(card for card in range(len(cards)) if card not in dealt)]
        self._round = case.round
        self._shuffled = None if case.shuffle is None else SeededDecks(case.shuffle.to_bytes(32, "big"))

    def __call__(self, number: int, size: int, count: int) -> Sequence[int]:
        if self._shuffled is not None:
            return self._shuffled(number, size, count)
        return self._dealt[:count] if number == self._round else range(count)

    def roll(self, number: int, roll: int, faces: int) -> int:
        return (self._shuffled or SeededDecks(bytes(32))).roll(number, roll, faces)


def as_it_is(state: Any, size: int) -> Any:
    """The default `Rules.smaller`, for a game whose hands are small enough."""
    return state
