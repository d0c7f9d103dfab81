"""`arena games`: list the games with their seats, options and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.terminal.screen import json_option, print_json, screen
from arena.queries.game_rows import game_row
from engine.game import option_text
from engine.registry import GAMES

if TYPE_CHECKING:
    from rich.table import Table

    from arena.queries.game_rows import GameRow


@click.command(epilog="Example: arena games --json")
@json_option
def command(as_json: bool) -> None:
    """List the games with their seats, options and sizes.

    The sizes apply to the default options. `arena rules GAME` shows the rules, `arena serve --game GAME` offers it.

    \b
    JSON: {"games": [{"name", "title", "colours", "cards", "actions", "options":
    [{"name", "default", "description"}], "sizes": [{"seats", "deck", "rounds",
    "hands"}]}]}
    The numbers of cards and actions are those of the catalogue; hands are by round.
    """
    if as_json:
        print_json({"games": [game_row(name) for name in GAMES]})
        return
    console = screen()
    for game in map(game_row, GAMES):
        console.print(_table(game))
        console.print(f"  {game.cards} cards, {game.actions} actions")
        for option in game.options:
            console.print(
                f"  [bold]{option.name}[/] {option.description}  [dim]\\[default: {option_text(option.default)}][/]",
                soft_wrap=not console.is_terminal,
            )
        console.print()


def _table(game: GameRow) -> Table:
    from arena.cli.terminal.fitted_table import framed

    table = framed(f"{game.title} ({game.name})")
    for name in ("Seats", "Deck", "Rounds"):
        table.add_column(name, justify="right")
    table.add_column("Cards a hand")
    for size in game.sizes:
        hands = size.hands if len(set(size.hands)) > 1 else size.hands[:1]
        table.add_row(str(size.seats), str(size.deck), str(size.rounds), " ".join(map(str, hands)))
    return table
