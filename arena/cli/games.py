"""`arena games`: list the games with their seats, options and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from arena.cli.screen import json_option, print_json, screen
from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, option_text
from engine.registry import GAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from engine.game import Game


class Size(NamedTuple):
    """The size of a game with a number of seats and default options."""

    seats: int
    deck: int
    """Cards in the deck."""
    hands: tuple[int, ...]
    """Cards dealt to each seat, by round."""


@click.command(epilog="Example: arena games --json")
@json_option
def command(as_json: bool) -> None:
    """List the games with their seats, options and sizes.

    Sizes are those with default options. `arena rules GAME` shows the rules, `arena serve --game GAME` offers it.

    \b
    JSON: {"games": [{"name", "title", "colours", "cards", "actions", "options":
    [{"name", "default", "description"}], "sizes": [{"seats", "deck", "rounds",
    "hands"}]}]}
    The numbers of cards and actions are those of the catalogue; hands are by round.
    """
    if as_json:
        print_json({"games": [_document(game) for game in GAMES.values()]})
        return
    console = screen()
    for game in GAMES.values():
        console.print(_table(game))
        console.print(f"  {len(game.cards)} cards, {len(game.actions)} actions")
        for option in game.options:
            console.print(
                f"  [bold]{option.name}[/] {option.description}  [dim]\\[default: {option_text(option.default)}][/]",
                soft_wrap=not console.is_terminal,
            )
        console.print()


def sizes(game: Game) -> list[Size]:
    """Return a game's sizes by number of seats, found by playing it and recording what it deals."""
    return [_size(game, seats) for seats in game.seats]


def _size(game: Game, seats: int) -> Size:
    decks = WatchedDecks()
    state = game.new(seats, decks)
    while (seat := state.player) != OVER:
        state.apply(state.fallback(seat), seat)
    dealt = [decks.dealt.get(number, (0, 0)) for number in range(state.round + 1)]
    return Size(seats, dealt[0][0], tuple(count // seats for _, count in dealt))


class WatchedDecks:
    """Decks that note what is dealt."""

    def __init__(self) -> None:
        self._decks = SeededDecks(bytes(KEY_BYTES))
        self.dealt: dict[int, tuple[int, int]] = {}
        """By round, the cards in the deck and those dealt of it."""

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """The first `count` cards of the round's deck of `size` cards."""
        self.dealt[round] = (size, count)
        return self._decks(round, size, count)

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        """The face that the die of a roll shows."""
        return self._decks.roll(round, number, faces)


def _document(game: Game) -> dict[str, object]:
    return {
        "name": game.name,
        "title": game.title,
        "colours": game.colours,
        "cards": len(game.cards),
        "actions": len(game.actions),
        "options": game.options,
        "sizes": [{**size._asdict(), "rounds": len(size.hands)} for size in sizes(game)],
    }


def _table(game: Game) -> Table:
    from arena.cli.frame import framed

    table = framed(f"{game.title} ({game.name})")
    for name in ("Seats", "Deck", "Rounds"):
        table.add_column(name, justify="right")
    table.add_column("Cards a hand")
    for size in sizes(game):
        hands = size.hands if len(set(size.hands)) > 1 else size.hands[:1]
        table.add_row(str(size.seats), str(size.deck), str(len(size.hands)), " ".join(map(str, hands)))
    return table
