"""`arena new`: create a project around a bot that plays."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import click

from arena.cli.terminal.screen import json_option, print_json
from engine.registry import GAMES

LANGUAGES: Final = ("python", "typescript", "go", "cpp", "rust", "java", "bash", "awk", "ruby", "lua", "csharp")
"""Languages of new bots. `arena.local.project.sdk_project` knows how to build a bot in each."""


@click.command(epilog="Example: arena new my-bot --game nullern")
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default="python",
    show_default=True,
    help="Language of the bot.",
)
@click.option(
    "--game",
    "games",
    type=click.Choice([*GAMES]),
    multiple=True,
    help="A game that a bot in Python plays; repeatable.  [default: all]",
)
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the project, which must not exist.  [default: ./NAME]",
)
@json_option
def command(name: str, language: str, games: tuple[str, ...], directory: Path | None, as_json: bool) -> None:
    """Create a project for a bot called NAME: a dozen lines that play, and a README.

    A project in Python also has a test and a CI workflow. NAME is the bot's name on servers. The SDK is part of the
    project, because no registry has it. Its dependencies come from the registry of the language. The Python client
    connects bots in Bash, AWK, Ruby, Lua and C#.

    \b
    JSON: {"name", "language", "games", "directory", "files"}
    """
    from arena.local.project.project import make_project

    if games and language != "python":
        raise click.UsageError(f"--game: a new bot in {language} plays every game; its code or its options name others")
    chosen = [GAMES[game] for game in dict.fromkeys(games or GAMES)]
    folder = Path(name) if directory is None else directory
    made = make_project(name, folder, chosen, language)
    if as_json:
        names = [game.name for game in chosen]
        files, where = sorted(made.files), str(folder.resolve())
        print_json({"name": name, "language": language, "games": names, "directory": where, "files": files})
        return
    click.echo(f"{folder} has {len(made.files)} files; {made.bot} is the bot. Next, with a server running:")
    for line in (f"cd {shlex.quote(str(folder))}", *made.commands):
        click.echo(f"  {line}")
