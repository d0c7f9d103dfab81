"""`arena bots`: list bots, make invitations, replace and revoke tokens, un-park bots."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from arena.cli.authorization import AuthorizedChange, takes_authorization
from arena.cli.data_source import takes_data, takes_source
from arena.cli.screen import json_option, json_rows, print_json, screen
from arena.store.rows import BotRow

if TYPE_CHECKING:
    from arena.cli.data_source import DataPlace


@click.group(epilog="Example: arena bots list")
def command() -> None:
    """List bots, invite new ones, replace and revoke tokens, un-park."""


@command.command("list", epilog="Example: arena bots list --server 127.0.0.1:50051")
@takes_source
@json_rows(BotRow)
def list_bots(place: DataPlace, as_json: bool) -> None:
    """List the registered bots.

    \b
    JSON: {"bots": [BotRow]}
    Fields that only a running server knows (connected, playing, round_trip_ms, declined, silent) are null with --data;
    parked says why a bot gets no seats and is empty if it is not parked.
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
def invite(owner: str, place: DataPlace, as_json: bool) -> None:
    """Make an invitation, good for registering one bot.

    For servers with --registration invited. Only the operator can do this, with write access to the data directory. If
    a server uses the directory, it makes the invitation. The code is shown only once.

    \b
    JSON: {"owner", "invitation"}
    """
    from arena.store import bots

    code = AuthorizedChange(place).change(
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
@takes_authorization
@json_option
def unpark(name: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Un-park a bot, so that it gets seats again.

    A bot is parked after three matches in a row in which it was suspended or a house bot took over its seat; `arena
    bots list` names them. The author un-parks a bot with its token, the operator with the data directory.

    \b
    JSON: {"bot"}
    """
    from arena.store import parking

    authorized.change(
        lambda connection: parking.unpark(connection, name), lambda server, token: server.unpark(name, token)
    )
    _print_done({"bot": name}, f"{name} is given seats again.", as_json)


@command.command(epilog="Example: arena bots rotate my-bot --token-file ./my-bot.token")
@click.argument("name")
@takes_authorization
@json_option
def rotate(name: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Replace a bot's token.

    The old token is invalid at once, and the bot's connection is closed. The new one is shown only once; with
    --token-file it is also written to the file.

    \b
    JSON: {"bot", "token"}
    """
    from arena.store import bots

    token = authorized.change(
        lambda connection: bots.rotate(connection, name).token, lambda server, present: server.rotate(name, present)
    )
    if as_json:
        print_json({"bot": name, "token": token})
    else:
        click.echo(token)
    if authorized.token_file is not None:
        try:
            authorized.token_file.write_text(token)
        except OSError as error:
            raise click.ClickException(f"keep the new token: it could not be put in the file ({error})") from error
    click.echo(f"The old token of {name} is no longer valid.", err=True)


@command.command(epilog="Example: arena bots revoke my-bot --data ./arena-data")
@click.argument("name")
@takes_authorization
@json_option
def revoke(name: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Revoke a bot's token and close its connection.

    The bot, its matches and its ratings stay. Only the operator can give it a new token (`arena bots rotate`).

    \b
    JSON: {"bot"}
    """
    from arena.store import bots

    authorized.change(
        lambda connection: bots.revoke(connection, name), lambda server, token: server.revoke(name, token)
    )
    _print_done({"bot": name}, f"The token of {name} is no longer valid.", as_json)


def _print_done(document: dict[str, object], words: str, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo(words)
