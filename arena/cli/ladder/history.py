"""Drawing of a bot's live rating over its matches, with a table of the last changes. It only draws rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.data_source import LARGEST_PAGE
from arena.cli.ladder.table import change
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.plot import Point, plot
from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import RatedRow

CHANGES: Final = 10
"""Matches listed in the table."""
AROUND: Final = CHANGES + 12
"""Rows of the screen taken by everything except the plot."""
LOWEST: Final = 10
HIGHEST: Final = 24
"""Rows of the plot, at least and at most."""


def history(bot: str, game: str, rows: Sequence[RatedRow], width: int, height: int) -> RenderableType:
    """Draw at least one match for a screen with this many columns and rows."""
    points = [Point(row.after, CONFIDENCE * row.deviation) for row in rows]
    drawn = plot(points, width, min(max(height - AROUND, LOWEST), HIGHEST))
    refits = sum(before.after != after.before for before, after in pairwise(rows))
    matches = f"{len(rows)} matches" if len(rows) > 1 else "1 match"
    if len(rows) == LARGEST_PAGE:
        matches = f"its last {matches}"
    title = Text.assemble((f"Live rating of {bot} in {game}", "bold"), (f" · {matches} · ░ ± 95 %", "dim"))
    if refits:
        title.append(f" · moved by a fit of the ladder {refits} times" if refits > 1 else " · moved by a fit once")
    return Group(title, drawn, Text(), _changes(rows))


def _changes(rows: Sequence[RatedRow]) -> RenderableType:
    shown = rows[: -CHANGES - 1 : -1]
    columns = [
        TableColumn("Match", [Text(str(row.match_id)) for row in shown]),
        TableColumn("Ended", [Text(f"{row.ended.astimezone():%d %b %H:%M:%S}") for row in shown], "left"),
        TableColumn("Elo before", [Text(f"{row.before:.0f}") for row in shown]),
        TableColumn("After", [Text(f"{row.after:.0f}", style="bold") for row in shown]),
        TableColumn("± 95 %", [Text(f"{CONFIDENCE * row.deviation:.0f}") for row in shown]),
        TableColumn("Change", [change(row.after - row.before) for row in shown]),
    ]
    if any(row.version for row in shown):
        columns.append(TableColumn("Version", [Text(row.version) for row in shown], "left", folds=True, style="dim"))
    if any(row.voided for row in shown):
        columns.append(TableColumn("State", [Text("void" if row.voided else "", style="red") for row in shown], "left"))
    return FittedTable("Its last changes", columns, ("Elo before", "Ended", "± 95 %"))
