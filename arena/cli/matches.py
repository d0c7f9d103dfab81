"""`arena matches`: what was and is being played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import LARGEST_MATCH, LARGEST_PAGE, takes_source

if TYPE_CHECKING:
    from arena.cli.source import Place


@click.command(epilog="Example: arena matches --bot counter --limit 5 --before 100")
@click.option("--game", metavar="NAME", default="", help="Only matches of this game.")
@click.option("--bot", metavar="NAME", default="", help="Only matches of this bot.")
@click.option("--limit", type=click.IntRange(1, LARGEST_PAGE), default=20, show_default=True, help="At most so many.")
@click.option(
    "--before", metavar="MATCH", type=click.IntRange(1, LARGEST_MATCH), help="Only older ones than this match."
)
@takes_source
@json_option
def command(game: str, bot: str, limit: int, before: int | None, place: Place, as_json: bool) -> None:
    """List matches, newest first.

    \b
    JSON: {"matches": [{"match", "game", "state", "started", "ended", "reason",
    "seats": [{"bot", "score", "place", "rating_before", "rating_after", "forced",
    "version"}], "voided"}]}
    State is playing, finished or interrupted; what only a result has is null before it. Voided says why a
    result counts no more and is empty where it does.
    """
    with place.open() as source:
        rows = source.matches(game=game, bot=bot, limit=limit, before=before or 0)
    if as_json:
        print_json({"matches": rows})
        return
    from arena.cli.tables import matches_table

    console = screen()
    if not rows:
        console.print("No such match.")
        return
    console.print(matches_table("Matches", rows))
    if len(rows) == limit:
        console.print(f"Older ones: arena matches --before {rows[-1].match}{place.typed}", style="dim", soft_wrap=True)
