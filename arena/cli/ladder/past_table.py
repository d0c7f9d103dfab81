"""The table of a ladder as it was published at some time. It only draws rows."""

from __future__ import annotations

from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.ladder.table import chance_of_best
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.tables import bot_name, owner_name
from arena.queries.figures import CONFIDENCE, SHARED, leaders
from arena.store.base.rows import PastLadder

LEFT_OUT_FIRST: Final = ("Fitted", "Version", "Owner", "Opponents", "Matches", "P(best)", "Ranks")


def past_ladder_table(ladder: PastLadder) -> RenderableType:
    """Draw a ladder that was published."""
    assert ladder.published is not None, "there is a ladder"
    rows, first = ladder.standings, leaders(ladder.standings)
    ranks = [f"{row.rank_low}–{row.rank_high}" if row.rank_low < row.rank_high else f"{row.rank_low}" for row in rows]
    columns = [
        TableColumn("#", [Text(str(first.rank(row))) for row in rows]),
        TableColumn("Ranks", [Text(words) for words in ranks]),
        TableColumn("Bot", [bot_name(row.bot, row.house) for row in rows], "left", folds=True),
        TableColumn("Owner", [Text(owner_name(row.owner, row.bot, row.house)) for row in rows], "left", True, "dim"),
        TableColumn("Version", [Text(row.version) for row in rows], "left", True, "dim"),
        TableColumn("Elo ± 95 %", [Text(f"{row.rating:.0f} ± {CONFIDENCE * row.deviation:.0f}") for row in rows]),
        TableColumn(
            "Fitted", [Text(f"{row.fitted:.0f} ± {CONFIDENCE * row.fitted_deviation:.0f}") for row in rows], style="dim"
        ),
        TableColumn("P(best)", [chance_of_best(first, row) for row in rows]),
        TableColumn("Matches", [Text(str(row.matches)) for row in rows]),
        TableColumn("Opponents", [Text(str(row.opponents)) for row in rows]),
    ]
    when = f"{ladder.published.astimezone():%Y-%m-%d %H:%M:%S}"
    title = f"Ladder of {ladder.game} as published {when}, up to event {ladder.through}"
    table = FittedTable(title, columns, LEFT_OUT_FIRST)
    return Group(table, Text(SHARED, "dim")) if first.names else table
