"""Drawings of a bot's history: its live rating over its matches, and comparisons of its versions with their
predecessors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.data_source import LARGEST_PAGE
from arena.cli.ladder.table import MARK, UNKNOWN, change, moment, share
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.plot import Point, plot
from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import RatedRow, VersionRow

CHANGES: Final = 10
"""Number of matches in the table."""
AROUND: Final = CHANGES + 12
"""Number of screen rows that are not part of the plot."""
LOWEST: Final = 10
HIGHEST: Final = 24
"""Minimum and maximum number of rows of the plot."""


def history(bot: str, game: str, rows: Sequence[RatedRow], width: int, height: int) -> RenderableType:
    """Draw the rating after each of one or more matches, for a screen of `width` columns and `height` rows."""
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


def versions_table(bot: str, game: str, rows: Sequence[VersionRow]) -> RenderableType:
    """Draw one or more versions, newest first."""
    columns = [
        TableColumn("Version", [_name(row) for row in rows], "left", folds=True),
        TableColumn("Elo ± 95 %", _aligned([(row.fitted, row.fitted_deviation) for row in rows], signed=False)),
        TableColumn("Than before", _aligned([(row.difference, row.difference_deviation) for row in rows], signed=True)),
        TableColumn("P(better)", [UNKNOWN if row.better is None else share(row.better) for row in rows]),
        TableColumn("Matches", [Text(str(row.matches)) for row in rows]),
        TableColumn("First", [moment(row.first) for row in rows], "left"),
        TableColumn("Last", [moment(row.last) for row in rows], "left"),
    ]
    return Group(FittedTable(f"Versions of {bot} in {game}", columns, ("First", "Last")), Text(_caption(rows), "dim"))


def _name(row: VersionRow) -> Text:
    name = Text.assemble((row.version or "(none stated)", "bold" if row.shown else ""), " ●" if row.shown else "")
    return name if row.changed is None else name.append(f" {MARK}", style="yellow")


def _aligned(figures: Sequence[tuple[float | None, float | None]], *, signed: bool) -> list[Text]:
    """Format figures with their 95 % intervals, aligned."""
    margins = ["" if error is None else f"{CONFIDENCE * error:.0f}" for _, error in figures]
    width, form = max(map(len, margins)), "+.0f" if signed else ".0f"
    return [
        UNKNOWN if value is None else Text.assemble((f"{value:{form}}", "bold"), (f" ± {margin:>{width}}", "dim"))
        for (value, _), margin in zip(figures, margins, strict=True)
    ]


def _caption(rows: Sequence[VersionRow]) -> str:
    words = ["● shown on the ladder"] if any(row.shown for row in rows) else []
    words.append("Elo as the results alone have it, not drawn towards the field")
    if any(row.difference is not None for row in rows):
        words.append("± of a difference as if the two were independent: it is that at most")
        words.append("P(better) also counts how much versions gain on this ladder")
    if any(row.changed is not None for row in rows):
        words.append(f"{MARK} its newer half of results differs from its older half: `arena ladder --flags`")
    if any(row.fitted is None for row in rows):
        words.append("– not in the fit yet")
    return " · ".join(words)
