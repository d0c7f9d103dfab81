"""`arena bots`: who is registered, invitations to register, tokens, and who is parked."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from arena.cli.right import Right, takes_right
from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import takes_data, takes_source

if TYPE_CHECKING:
    from arena.cli.source import Place


@click.group(epilog="Example: arena bots list")
def command() -> None:
    """List bots, invite new ones, replace and revoke tokens, un-park."""


@command.command("list", epilog="Example: arena bots list --server 127.0.0.1:50051")
@takes_source
@json_option
def list_bots(place: Place, as_json: bool) -> None:
    """List the registered bots.

    \b
    JSON: {"bots": [{"bot", "owner", "house", "connected", "playing", "matches",
    "registered", "round_trip_ms", "parked", "version"}]}
    What only a running server knows (connected, playing, round_trip_ms) is null with --data; parked says why a bot is
    given no seats and is empty where it is.
    """
    with place.open() as source:
        rows = source.bots()
    if as_json:
        print_json({"bots": rows})
        return
    from arena.cli.tables import bots_table

    screen().print(bots_table("Bots", rows, datetime.now(UTC)) if rows else "No bot is registered yet.")


@command.command(epilog="Example: arena bots invite --owner alice --data ./arena-data")
@click.option("--owner", metavar="NAME", required=True, help="Whose bot it will be; bots of one owner never meet.")
@takes_data
@json_option
def invite(owner: str, place: Place, as_json: bool) -> None:
    """Make an invitation, good for registering one bot.

    For servers with --registration invited. Only the operator can: whoever may write to the data directory. Where a
    server works on it, the server makes the invitation. The code is shown this once.

    \b
    JSON: {"owner", "invitation"}
    """
    from arena.store import bots

    code = Right(place).change(
        lambda connection: bots.invite(connection, owner, time.time_ns() // 1000),
        lambda server, token: server.invite(owner, token),
    )
    if as_json:
        print_json({"owner": owner, "invitation": code})
        return
    click.echo(code)
    click.echo(f"{owner} registers one bot with it: python my_bot.py --invitation {code}", err=True)


@command.command(epilog="Example: arena bots unpark my-bot --token-file ./my-bot.token")
@click.argument("name")
@takes_right
@json_option
def unpark(name: str, right: Right, as_json: bool) -> None:
    """Have a parked bot given seats again.

    A bot is parked after three matches in a row in which it was suspended or a house bot had to play its seat on;
    `arena bots list` names them. Its author un-parks it with its token, the operator with the data directory.

    \b
    JSON: {"bot"}
    """
    from arena.store import parking

    right.change(lambda connection: parking.unpark(connection, name), lambda server, token: server.unpark(name, token))
    _done({"bot": name}, f"{name} is given seats again.", as_json)


@command.command(epilog="Example: arena bots rotate my-bot --token-file ./my-bot.token")
@click.argument("name")
@takes_right
@json_option
def rotate(name: str, right: Right, as_json: bool) -> None:
    """Replace a bot's token.

    The old one dies at once, and the bot's connection with it. The new one is shown this once; with --token-file it is
    put in the file, too.

    \b
    JSON: {"bot", "token"}
    """
    from arena.store import bots

    token = right.change(
        lambda connection: bots.rotate(connection, name).token, lambda server, present: server.rotate(name, present)
    )
    if as_json:
        print_json({"bot": name, "token": token})
    else:
        click.echo(token)
    if right.token_file is not None:
        try:
            right.token_file.write_text(token)
        except OSError as error:
            raise click.ClickException(f"keep the new token: it could not be put in the file ({error})") from error
    click.echo(f"The old token of {name} is dead.", err=True)


@command.command(epilog="Example: arena bots revoke my-bot --data ./arena-data")
@click.argument("name")
@takes_right
@json_option
def revoke(name: str, right: Right, as_json: bool) -> None:
    """Kill a bot's token, and its connection.

    The bot, its matches and its ratings stay. Only the operator can have it given a new token (`arena bots rotate`).

    \b
    JSON: {"bot"}
    """
    from arena.store import bots

    right.change(lambda connection: bots.revoke(connection, name), lambda server, token: server.revoke(name, token))
    _done({"bot": name}, f"The token of {name} is dead.", as_json)


def _done(document: dict[str, object], words: str, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo(words)
