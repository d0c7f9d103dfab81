"""`arena ladder`: who is how strong, and results taken back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from arena.cli.right import Right
from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import LARGEST_MATCH, takes_data, takes_source

if TYPE_CHECKING:
    from arena.cli.source import Place


@click.group(invoke_without_command=True, epilog="Example: arena ladder --game sixth_sense --data ./arena-data --json")
@click.option("--game", metavar="NAME", help="Only this game's ladder.  [default: every game's]")
@takes_source
@json_option
@click.pass_context
def command(context: click.Context, game: str | None, place: Place, as_json: bool) -> None:
    """Show the ladder: ratings with their 95 % intervals, best first.

    Ratings are Elo; the interval is rating ± 1.96 standard deviations. The mean rank is 0 for a bot that is always
    first and 1 for one that is always last. House bots are marked ⌂.

    \b
    JSON: {"ladders": [{"game", "standings": [{"rank", "bot", "owner", "house",
    "rating", "deviation", "matches", "wins", "mean_rank", "last_change", "version",
    "rank_low", "rank_high", "best", "opponents", "provisional", "live",
    "live_deviation", "forced_share", "think_95_us", "luck": {"matches", "plain",
    "plain_error", "adjusted", "adjusted_error"}}]}]}
    """
    if context.invoked_subcommand is not None:
        return
    with place.open() as source:
        ladders = {name: source.ladder(name) for name in ([game] if game else source.games())}
    if as_json:
        print_json({"ladders": [{"game": name, "standings": rows} for name, rows in ladders.items()]})
        return
    from arena.cli.tables import ladder_table

    console = screen()
    for name, rows in ladders.items():
        if rows:
            console.print(ladder_table(f"Ladder of {name}", rows, console.width))
        else:
            console.print(f"No match of {name} is finished yet.")


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
