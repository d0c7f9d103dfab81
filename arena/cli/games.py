"""`arena games`: which games there are, for how many, and how large they are."""

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
    """How large a game is with so many seats and without options."""

    seats: int
    deck: int
    """Cards in the deck."""
    hands: tuple[int, ...]
    """By round, the cards dealt to each seat."""


@click.command(epilog="Example: arena games --json")
@json_option
def command(as_json: bool) -> None:
    """List the games with their seats, options and sizes.

    Sizes are those of a game without options. `arena rules GAME` has the rules, `arena serve --game GAME` offers it.

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
    """By number of seats; found by watching what a game deals, because each may deal as it likes."""
    return [_size(game, seats) for seats in game.seats]


def _size(game: Game, seats: int) -> Size:
    cards = SeededDecks(bytes(KEY_BYTES))
    dealt: dict[int, tuple[int, int]] = {}

    def watched(number: int, size: int, count: int) -> Sequence[int]:
        dealt[number] = (size, count // seats)
        return cards(number, size, count)

    state = game.new(seats, watched)
    while (seat := state.player) != OVER:
        state.apply(state.fallback(seat), seat)
    return Size(seats, dealt[0][0], tuple(hand for _, hand in dealt.values()))


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
    from arena.cli.tables import framed

    table = framed(f"{game.title} ({game.name})")
    for name in ("Seats", "Deck", "Rounds"):
        table.add_column(name, justify="right")
    table.add_column("Cards a hand")
    for size in sizes(game):
        hands = size.hands if len(set(size.hands)) > 1 else size.hands[:1]
        table.add_row(str(size.seats), str(size.deck), str(len(size.hands)), " ".join(map(str, hands)))
    return table
