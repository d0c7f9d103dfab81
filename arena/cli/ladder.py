"""`arena ladder`: who is how strong and how a bot came there, results taken back, and the ladder checked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from arena.cli.rebuild import rebuild
from arena.cli.right import Right
from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import LARGEST_MATCH, takes_data, takes_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arena.cli.source import Place
    from arena.wire.rows import LadderRows, RatedRow

TALL = 60
"""Rows of a screen that nobody says the height of."""


@click.group(
    invoke_without_command=True, epilog="Example: arena ladder --game sixth_sense --seats 4 --data ./arena-data"
)
@click.option("--game", metavar="NAME", help="Only this game's.  [default: every game's]")
@click.option(
    "--seats", metavar="N", type=click.IntRange(1, 99), help="Of results at tables for so many alone, computed now."
)
@click.option("--history", "bot", metavar="BOT", help="Draw how this bot's live rating moved instead.")
@takes_source
@json_option
@click.pass_context
def command(
    context: click.Context, game: str | None, seats: int | None, bot: str | None, place: Place, as_json: bool
) -> None:
    """Show the ladder: ratings in Elo with their 95 % intervals, best first.

    Ranks are those that the errors allow; P(best) is the probability of being the best of all. Forced is the part
    of its decisions that others made for a bot, think what 95 % of its own did not take longer than. Live is the
    rating that moves with every match, and its last change. A narrow screen leaves some of this out; --json does not.

    \b
    JSON: {"ladders": [{"game", "seats", "standings": [{"rank", "bot", "owner",
    "house", "rating", "deviation", "matches", "wins", "mean_rank", "last_change",
    "version", "rank_low", "rank_high", "best", "opponents", "provisional", "live",
    "live_deviation", "forced_share", "think_95_us", "luck": {"matches", "plain",
    "plain_error", "adjusted", "adjusted_error"}}], "through", "digest",
    "published"}]}; "deviation" is a standard error, "through" the last event in it.
    With --history: {"bot", "histories": [{"game", "matches": [{"match", "ended",
    "version", "before", "after", "deviation", "voided"}]}]}
    """
    if context.invoked_subcommand is not None:
        return
    if bot is not None and seats is not None:
        raise click.UsageError("a live rating is of all tables together: choose one of --history and --seats")
    with place.open() as source:
        games = (game,) if game else source.games()
        if game is None and seats is not None:
            from engine.registry import GAMES

            games = tuple(name for name in games if name not in GAMES or seats in GAMES[name].seats) or games
        if bot is not None:
            histories = {name: source.history(bot, name) for name in games}
        else:
            ladders = [source.ladder(name, seats or 0) for name in games]
    if bot is not None:
        _tell_history(bot, histories, as_json)
    elif as_json:
        print_json({"ladders": ladders})
    else:
        _tell_ladders(ladders)


@command.command(epilog='Example: arena ladder void 4711 --reason "the deal was known" --data ./arena-data')
@click.argument("match", type=click.IntRange(1, LARGEST_MATCH))
@click.option("--reason", metavar="TEXT", required=True, help="Why, in at most 200 characters; everybody can read it.")
@takes_data
@json_option
def void(match: int, reason: str, place: Place, as_json: bool) -> None:
    """Take the result of a match off the ladder, for good.

    The match and its replay stay. Only the operator can: whoever may write to the data directory. Where a server works
    on it, the server does it and fits the ladder anew at once; else the next start does.

    \b
    JSON: {"match", "reason"}
    """
    from arena.store import matches

    Right(place).change(
        lambda connection: matches.void(connection, match, reason, time.time_ns() // 1000),
        lambda server, token: server.void(match, reason, token),
    )
    if as_json:
        print_json({"match": match, "reason": reason})
    else:
        click.echo(f"The result of match {match} counts no more.")


command.add_command(rebuild)


def _tell_ladders(ladders: Sequence[LadderRows]) -> None:
    from arena.cli.ladder_table import ladder_table

    console = screen()
    for ladder in ladders:
        if ladder.standings:
            console.print(ladder_table(ladder, console.width))
        else:
            where = f" at a table for {ladder.seats}" if ladder.seats else ""
            console.print(f"No match of {ladder.game}{where} is finished yet.", soft_wrap=True)


def _tell_history(bot: str, histories: Mapping[str, Sequence[RatedRow]], as_json: bool) -> None:
    if as_json:
        rows = [{"game": name, "matches": matches} for name, matches in histories.items()]
        print_json({"bot": bot, "histories": rows})
        return
    from arena.cli.history import history

    console = screen()
    for name, matches in histories.items():
        if matches:
            console.print(history(bot, name, matches, console.width, console.height if console.is_terminal else TALL))
        else:
            console.print(f"{bot} has no rated match of {name} yet.", soft_wrap=True)
