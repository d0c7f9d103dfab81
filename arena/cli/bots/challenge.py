"""`arena bots challenge`: have a bot challenge others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.data_source import chosen_games, takes_server
from arena.cli.terminal.screen import json_option, print_json

if TYPE_CHECKING:
    from arena.cli.data_source import DataPlace


@click.command(epilog="Example: arena bots challenge bert --game nullern --token-file ./anna.token")
@click.argument("opponents", metavar="OPPONENT...", nargs=-1, required=True)
@click.option("--game", metavar="NAME", required=True, help="The game to play.")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="The file with the token of the bot that challenges.",
)
@takes_server
@json_option
def command(opponents: tuple[str, ...], game: str, token_file: Path, place: DataPlace, as_json: bool) -> None:
    """Have a bot challenge others to an unrated match of these bots only.

    All of them must be connected, take challenges (--challenges, or challenges=True) and accept this one. House bots
    always accept, and may be named several times. The command waits up to half a minute for all of them to have room,
    and returns when the match begins.

    \b
    JSON: {"match", "game", "opponents"}
    """
    with place.reached_server() as server:
        [game] = chosen_games(server.games(), game)
        match_id = server.challenge(opponents, game, token_file.read_text().strip())
    if as_json:
        print_json({"match": match_id, "game": game, "opponents": opponents})
    else:
        click.echo(f"Match {match_id} begins. Once it is over: arena replay show {match_id}{place.typed}")
