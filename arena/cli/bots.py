"""`arena bots`: who is registered, and invitations to register."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import takes_data, takes_source

if TYPE_CHECKING:
    from arena.cli.source import Place


@click.group(epilog="Example: arena bots list")
def command() -> None:
    """List bots, and invite new ones."""


@command.command("list", epilog="Example: arena bots list --server 127.0.0.1:50051")
@takes_source
@json_option
def list_bots(place: Place, as_json: bool) -> None:
    """List the registered bots.

    \b
    JSON: {"bots": [{"bot", "owner", "house", "connected", "playing", "matches",
    "registered", "round_trip_ms"}]}
    What only a running server knows (connected, playing, round_trip_ms) is null with --data.
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
    code = _invitation(owner, place)
    if as_json:
        print_json({"owner": owner, "invitation": code})
        return
    click.echo(code)
    click.echo(f"{owner} registers one bot with it: python my_bot.py --invitation {code}", err=True)


def _invitation(owner: str, place: Place) -> str:
    from arena.store import bots
    from arena.store.directory import operator_token
    from arena.store.errors import Refused, StoreError, StoreLocked
    from arena.store.store import open_to_amend

    assert place.data is not None, "it is required"
    try:
        try:
            with open_to_amend(place.data) as connection:
                return bots.invite(connection, owner, time.time_ns() // 1000)
        except StoreLocked:
            with place.reached_server() as server:
                return server.invite(owner, operator_token(place.data))
    except (StoreError, Refused) as error:
        raise click.ClickException(str(error)) from error
