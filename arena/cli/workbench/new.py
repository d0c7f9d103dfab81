"""`arena new`: create a project around a bot that plays."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import click

from arena.cli.terminal.screen import json_option, print_json
from engine.registry import GAMES

NEXT: Final = (
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    ".venv/bin/python bot.py --server localhost:50051",
)
"""Commands that make a new bot play, to be typed in its folder. Its README explains them."""


@click.command(epilog="Example: arena new my-bot --game nullern")
@click.argument("name")
@click.option(
    "--language", type=click.Choice(["python"]), default="python", show_default=True, help="Language of the bot."
)
@click.option(
    "--game",
    "games",
    type=click.Choice([*GAMES]),
    multiple=True,
    help="A game that it plays; repeatable.  [default: all]",
)
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the project, which must not exist.  [default: ./NAME]",
)
@json_option
def command(name: str, language: str, games: tuple[str, ...], directory: Path | None, as_json: bool) -> None:
    """Create a project for a bot called NAME: a dozen lines that play, a test, a README, a CI workflow.

    NAME is the bot's name on servers. The Python client and the engine are files of the project, because no registry
    has them. Their dependencies come from the registry that pip uses.

    \b
    JSON: {"name", "language", "games", "directory", "files"}
    """
    from arena.local.errors import LocalMatchError
    from arena.local.project.project import make_project

    chosen = [GAMES[game] for game in dict.fromkeys(games or GAMES)]
    folder = Path(name) if directory is None else directory
    try:
        files = make_project(name, folder, chosen)
    except (LocalMatchError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        names = [game.name for game in chosen]
        print_json(
            {"name": name, "language": language, "games": names, "directory": str(folder.resolve()), "files": files}
        )
        return
    click.echo(f"{folder} has {len(files)} files; bot.py is the bot. Next, with a server running:")
    for line in (f"cd {shlex.quote(str(folder))}", *NEXT):
        click.echo(f"  {line}")
