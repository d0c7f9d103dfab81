"""`arena rules`: show the rules of a game or one of its rulings, in three languages."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Final

import click

from arena.rules import LANGUAGES, rules_of, rulings
from engine.registry import GAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDEST: Final = 100
"""Maximum width of a line in a terminal, since longer lines are hard to read."""


@click.command(epilog="Example: arena rules sixth_sense --ruling S7 --language nl")
@click.argument("game", type=click.Choice([*GAMES]))
@click.option("--ruling", metavar="NUMBER", help="Only this ruling, such as S7.")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES, case_sensitive=False),
    help="Language of the rules.  [default: the locale's, else en]",
)
def command(game: str, ruling: str | None, language: str | None) -> None:
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

    The first locale variable that is set counts.
    """
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    language = re.split(r"[_.@-]", locale.lower())[0]
    return language if language in LANGUAGES else LANGUAGES[0]


def _show(text: str) -> None:
    """Print the text formatted, in a pager if it is longer than the screen."""
    from rich.markdown import Markdown

    from arena.cli.terminal.screen import screen

    console = screen()
    width, height = min(console.width, WIDEST), console.height
    with console.capture() as capture:
        console.print(Markdown(text), width=width)
    shown = capture.get()
    if shown.count("\n") < height:
        click.echo(shown, nl=False, color=True)
    else:
        click.echo_via_pager(shown)
