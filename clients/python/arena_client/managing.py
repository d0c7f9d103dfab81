"""`arena-bot unpark`, `rotate` and `join`: commands for the author of a registered bot, who has its token."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena_client.bot import Bot
from arena_client.command import SERVER_HELP, add_token_options
from arena_client.errors import ArenaError
from arena_client.options import Options
from arena_client.running import new_connection

if TYPE_CHECKING:
    from arena_client.connection import Connection

VERBS = {
    "unpark": "Un-park a bot, so that the server invites it again. A bot is parked after several matches in a row in "
    "which it was suspended or gone.",
    "rotate": "Replace a bot's token. The old one is invalid at once, and the bot's connection ends. The new token is "
    "written to the token file; with --token it is printed instead.",
    "join": "Let a bot enter a ladder with the code of an invitation.",
}
"""The verbs with their descriptions."""


def main(verb: str, arguments: Sequence[str]) -> None:
    """Run one of `VERBS`."""
    words = " slow CODE" if verb == "join" else ""
    parser = argparse.ArgumentParser(
        prog=f"arena-bot {verb}",
        description=VERBS[verb],
        epilog=f"example: arena-bot {verb} my-bot{words} --server localhost:50051; exit status: 0 when it is done; "
        "2 for a wrong command line or a missing token; 3 if the server refuses it; 4 if no server was reached",
    )
    parser.add_argument("name", metavar="NAME", help="the bot's name on the server")
    if verb == "join":
        parser.add_argument("ladder", metavar="LADDER", help="the ladder")
        parser.add_argument("code", metavar="CODE", help="the invitation's code, from the server's operator")
    parser.add_argument("--server", metavar="HOST:PORT", help=SERVER_HELP)
    add_token_options(parser)
    parsed = parser.parse_args(arguments)
    try:
        options: Options = {
            "token": parsed.token,
            "token_file": parsed.token_file,
            "tls": parsed.tls_roots or parsed.tls,
            "receipts": False,
        }
        connection = new_connection(Bot(name=parsed.name), parsed.server, options)
        done = asyncio.run(_done(verb, connection, parsed))
    except ArenaError as error:
        sys.stderr.write(error.told(parsed.name))
        sys.exit(error.status)
    sys.stdout.write(f"{done}\n")


async def _done(verb: str, connection: Connection, parsed: argparse.Namespace) -> str:
    """Execute a verb; return the message about its success."""
    if verb == "unpark":
        await connection.unpark()
        return f"{parsed.name} is given seats again."
    if verb == "join":
        await connection.join(parsed.ladder, parsed.code)
        return f"{parsed.name} may play on {parsed.ladder} now: start it with --ladder {parsed.ladder}"
    token, file = await connection.rotate()
    return token if file is None else f"The old token of {parsed.name} is no longer valid; the new one is in {file}."
