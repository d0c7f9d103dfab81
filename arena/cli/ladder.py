"""`arena ladder`: who is how strong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import takes_source

if TYPE_CHECKING:
    from arena.cli.source import Place


@click.command(epilog="Example: arena ladder --game sixth_sense --data ./arena-data --json")
@click.option("--game", metavar="NAME", help="Only this game's ladder.  [default: every game's]")
@takes_source
@json_option
def command(game: str | None, place: Place, as_json: bool) -> None:
    """Show the ladder: ratings with their 95 % intervals, best first.

    Ratings are Elo; the interval is rating ± 1.96 standard deviations. The mean rank is 0 for a bot that is always
    first and 1 for one that is always last. House bots are marked ⌂.

    \b
    JSON: {"ladders": [{"game", "standings": [{"rank", "bot", "owner", "house",
    "rating", "deviation", "matches", "wins", "mean_rank", "last_change"}]}]}
    """
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
