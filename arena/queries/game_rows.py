"""Rows about the games: seats, options and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, Game, Option
from engine.registry import GAMES


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option of a game."""

    name: str
    default: Option
    """The default value. Its type is the option's `type`."""
    description: str


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The size of a game with default options at a table with a given number of seats."""

    seats: int
    deck: int
    """Number of cards in the deck."""
    hands: tuple[int, ...]
    """Number of cards dealt to each seat, by round."""
    rounds: int


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game."""

    name: str
    """The name that programs use."""
    title: str
    """The name that people use."""
    colours: tuple[str, ...]
    cards: int
    """Number of cards in the catalogue."""
    actions: int
    """Number of actions in the catalogue."""
    options: tuple[OptionRow, ...]
    sizes: tuple[SizeRow, ...]


@cache
def game_row(name: str) -> GameRow:
    """Return the row of a game by its name. The game must exist."""
    game = GAMES[name]
    options = tuple(OptionRow(each.name, each.default, each.description) for each in game.options)
    sizes = tuple(_size(game, seats) for seats in game.seats)
    return GameRow(game.name, game.title, game.colours, len(game.cards), len(game.actions), options, sizes)


def _size(game: Game, seats: int) -> SizeRow:
    """Return a game's size at a table with this number of seats.

    The size is measured: the function plays a game and records the dealt cards.
    """
    decks = WatchedDecks()
    state = game.new(seats, decks)
    while (seat := state.player) != OVER:
        state.apply(state.fallback(seat), seat)
    dealt = [decks.dealt.get(number, (0, 0)) for number in range(state.round + 1)]
    hands = tuple(count // seats for _, count in dealt)
    return SizeRow(seats, dealt[0][0], hands, len(hands))


class WatchedDecks:
    """Decks that record the dealt cards."""

    def __init__(self) -> None:
        self._decks = SeededDecks(bytes(KEY_BYTES))
        self.dealt: dict[int, tuple[int, int]] = {}
        """By round, the number of cards in the deck and the number of dealt cards."""

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """Return the first `count` cards of the round's deck of `size` cards."""
        self.dealt[round] = (size, count)
        return self._decks(round, size, count)

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        """Return the result of a die roll."""
        return self._decks.roll(round, number, faces)
