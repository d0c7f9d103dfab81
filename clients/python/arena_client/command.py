"""The command-line options of every bot. The sample bots and `arena-bot` share them."""

from __future__ import annotations

import argparse
import sys

from arena_client.bot import Bot
from arena_client.errors import ArenaError
from arena_client.options import DEFAULT_ADDRESS
from arena_client.running import run

STATUSES = """exit status: 0 after Ctrl-C, SIGTERM or enough matches; 1 for an error in the bot; 2 for a wrong command
line; 3 where the server refuses the bot; 4 where no server was reached, within
--give-up-after seconds or because there can be none at the address"""


SERVER_HELP = f"default: ARENA_SERVER in the environment, or {DEFAULT_ADDRESS}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add an option for every argument of `run`, and describe the exit statuses."""
    parser.epilog = f"{parser.epilog}; {STATUSES}" if parser.epilog else STATUSES
    parser.add_argument("--name", help="the bot's name on the server (default: the bot's own)")
    parser.add_argument(
        "--owner",
        help="who owns it; bots of one owner meet in challenges only "
        "(default: the bot's own, ARENA_OWNER, or its name)",
    )
    parser.add_argument(
        "--game", action="append", metavar="GAME", help="play this game only; repeatable (default: the bot's own games)"
    )
    parser.add_argument(
        "--ladder",
        action="append",
        metavar="NAME",
        help="play on this ladder only; repeatable (default: ARENA_LADDERS, or the games' default ladders)",
    )
    parser.add_argument(
        "--event", action="append", metavar="NAME", help="enter this event; repeatable (default: ARENA_EVENTS)"
    )
    parser.add_argument(
        "--bot-version", dest="version", metavar="TEXT", help="which version the bot is; each has a rating of its own"
    )
    parser.add_argument("--capacity", type=int, metavar="K", help="how many matches to play at once")
    parser.add_argument("--matches", type=int, metavar="N", help="stop after N matches (default: no end)")
    add_token_options(parser)
    parser.add_argument("--invitation", help="for a server that registers bots by invitation")
    parser.add_argument(
        "--on-error", choices=("raise", "continue"), default="raise", help="what an error in the bot does"
    )
    parser.add_argument(
        "--give-up-after", type=float, metavar="SECONDS", help="end when the server is gone for so long"
    )
    parser.add_argument(
        "--no-receipts", action="store_true", help="keep nothing of the server's log of results beside the token"
    )
    parser.add_argument(
        "--casual",
        action="store_true",
        help="unrated matches with house bots only, so that a first crash costs nothing",
    )
    parser.add_argument(
        "--challenges", action="store_true", help="accept challenges: unrated matches whose bots are named"
    )
    parser.add_argument(
        "--challenger", action="append", metavar="NAME", help="accept challenges with this bot only; repeatable"
    )
    parser.add_argument("--quiet", action="store_true", help="show warnings only")


def add_token_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every program that connects with a bot's token."""
    parser.add_argument("--token", help="the bot's token (default: the one in the token file)")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="where the token is kept (default: ARENA_TOKEN_FILE, or below ~/.arena/tokens)",
    )
    parser.add_argument("--tls", action="store_true", help="connect with TLS")
    parser.add_argument(
        "--tls-roots", metavar="FILE", help="connect with TLS and trust the authorities in this PEM file"
    )


def run_with(bot: Bot, address: str | None, arguments: argparse.Namespace) -> None:
    """Run a bot from its command line.

    An `ArenaError` ends the program: its text goes to standard error, and its `status` is the exit status.
    """
    for option in ("name", "owner", "capacity", "version"):
        if (value := getattr(arguments, option)) is not None:
            setattr(bot, option, value)
    if arguments.game:
        bot.games = arguments.game
    try:
        run(
            bot,
            address,
            token=arguments.token,
            token_file=arguments.token_file,
            invitation=arguments.invitation,
            tls=arguments.tls_roots or arguments.tls,
            matches=arguments.matches,
            on_error=arguments.on_error,
            give_up_after=arguments.give_up_after,
            receipts=not arguments.no_receipts,
            casual=arguments.casual,
            challenges=arguments.challenger or arguments.challenges,
            ladders=arguments.ladder,
            events=arguments.event,
            verbose=not arguments.quiet,
        )
    except ArenaError as error:
        sys.stderr.write(error.told(bot.name or type(bot).__name__))
        sys.exit(error.status)


def main(make: type[Bot], description: str | None) -> None:
    """Run a program's only bot with the options on the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--server", metavar="HOST:PORT", help=SERVER_HELP)
    add_options(parser)
    arguments = parser.parse_args()
    run_with(make(), arguments.server, arguments)
