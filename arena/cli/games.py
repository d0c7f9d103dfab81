"""`arena games` lists the games with their seats, options and sizes. `arena rules` shows a game's rules or one ruling
in three languages.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import click

from arena.cli.terminal.screen import json_option, print_json, screen
from arena.queries.game_rows import GameRow, game_row
from arena.rules import LANGUAGES, rules_of, rulings
from engine.game import option_text
from engine.registry import GAMES

if TYPE_CHECKING:
    from rich.table import Table

WIDEST: Final = 100
"""Maximum width of a line of rules in a terminal. Longer lines are hard to read."""


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


@click.command(epilog="Example: arena rules sixth_sense --ruling S7 --language nl")
@click.argument("game", type=click.Choice([*GAMES]))
@click.option("--ruling", metavar="NUMBER", help="Only this ruling, such as S7.")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES, case_sensitive=False),
    help="Language of the rules.  [default: the locale's, else en]",
)
def rules_command(game: str, ruling: str | None, language: str | None) -> None:
    """Read the rules of a game, with rulings where the printed rules are unclear.

    In a terminal, the rules are formatted, and shown in a pager (see $PAGER) if they are longer than the screen.
    Otherwise they are printed as Markdown.
    """
    text = rules_of(GAMES[game], language or language_of(os.environ))
    if ruling is not None:
        found = rulings(text)
        if ruling.upper() not in found:
            raise click.BadParameter(
                f"{GAMES[game].title} has no ruling {ruling!r}; it has {', '.join(found)}", param_hint="'--ruling'"
            )
        text = found[ruling.upper()] + "\n"
    if sys.stdout.isatty():
        _show(text)
    else:
        click.echo(text, nl=False)


def language_of(environment: Mapping[str, str]) -> str:
    """Return the locale's language, or English if there are no rules in it.

    The first locale variable that is set determines the language.
    """
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    language = re.split(r"[_.@-]", locale.lower())[0]
    return language if language in LANGUAGES else LANGUAGES[0]


def _show(text: str) -> None:
    """Print the formatted text. Use a pager if it is longer than the screen."""
    from rich.markdown import Markdown

    console = screen()
    width, height = min(console.width, WIDEST), console.height
    with console.capture() as capture:
        console.print(Markdown(text), width=width)
    shown = capture.get()
    if shown.count("\n") < height:
        click.echo(shown, nl=False, color=True)
    else:
        click.echo_via_pager(shown)
