"""`arena matches`: list matches."""

from __future__ import annotations

from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING

import click

from arena.cli.data_source import LARGEST_MATCH, LARGEST_PAGE, chosen_games, known_bot, takes_source
from arena.cli.terminal.screen import json_rows, print_json, screen
from arena.queries.profile import lost
from arena.store.base.rows import MatchRow

if TYPE_CHECKING:
    from arena.cli.data_source import DataPlace


@click.command(epilog="Example: arena matches --bot counter --limit 5 --before 100")
@click.option("--game", metavar="NAME", default="", help="Only matches of this game.")
@click.option("--bot", metavar="NAME", default="", help="Only matches of this bot.")
@click.option(
    "--limit",
    type=click.IntRange(1, LARGEST_PAGE),
    default=20,
    show_default=True,
    help="Maximum number of matches to list.",
)
@click.option(
    "--before", metavar="MATCH", type=click.IntRange(1, LARGEST_MATCH), help="Only matches older than this one."
)
@click.option("--lost", "only_lost", is_flag=True, help="With --bot: only those that it finished and did not win.")
@takes_source
@json_rows(MatchRow)
def command(
    game: str, bot: str, limit: int, before: int | None, only_lost: bool, place: DataPlace, as_json: bool
) -> None:
    """List matches, newest first.

    \b
    JSON: {"matches": [MatchRow]}
    State is playing, finished or interrupted; the result's fields are null until there is
    a result. Kind is rated, casual or challenge. Voided is the reason why a result is void,
    empty if it counts.
    """
    if only_lost and not bot:
        raise click.UsageError("--lost needs a bot that lost: name it with --bot")
    with place.open() as source:
        chosen_games(source.games(), game)
        if only_lost:
            found = (row for row in source.all_matches(game, bot, before) if lost(row, bot))
            rows = tuple(islice(found, limit))
        else:
            rows = source.matches(game=game, bot=bot, limit=limit, before=before)
        if bot and not rows:
            known_bot(source, bot)
    if as_json:
        print_json({"matches": rows})
        return
    from arena.cli.terminal.tables import matches_table

    console = screen()
    if not rows:
        console.print("No such match.")
        return
    console.print(matches_table("Matches", rows))
    if len(rows) == limit:
        chosen = "".join(
            [f" --game {quote(game)}" if game else "", f" --bot {quote(bot)}" if bot else "", " --lost" * only_lost]
        )
        hint = f"Older ones: arena matches{chosen} --before {rows[-1].match_id}{place.typed}"
        console.print(hint, style="dim", soft_wrap=True)
