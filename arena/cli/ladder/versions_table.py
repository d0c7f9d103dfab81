"""The versions of a bot as a table, each beside the one before it. It only draws rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.ladder.flags_table import MARK
from arena.cli.ladder.table import UNKNOWN, share
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.queries.figures import CONFIDENCE
from arena.store.base.rows import VersionRow


def versions_table(bot: str, game: str, rows: Sequence[VersionRow]) -> RenderableType:
    """Draw at least one version, the newest first."""
    columns = [
        TableColumn("Version", [_name(row) for row in rows], "left", folds=True),
        TableColumn("Elo ± 95 %", _aligned([(row.fitted, row.fitted_deviation) for row in rows], signed=False)),
        TableColumn("Than before", _aligned([(row.difference, row.difference_deviation) for row in rows], signed=True)),
        TableColumn("P(better)", [UNKNOWN if row.better is None else share(row.better) for row in rows]),
        TableColumn("Matches", [Text(str(row.matches)) for row in rows]),
        TableColumn("First", [_at(row.first) for row in rows], "left"),
        TableColumn("Last", [_at(row.last) for row in rows], "left"),
    ]
    return Group(FittedTable(f"Versions of {bot} in {game}", columns, ("First", "Last")), Text(_caption(rows), "dim"))


def _name(row: VersionRow) -> Text:
    name = Text.assemble((row.version or "(none stated)", "bold" if row.shown else ""), " ●" if row.shown else "")
    return name if row.changed is None else name.append(f" {MARK}", style="yellow")


def _aligned(figures: Sequence[tuple[float | None, float | None]], *, signed: bool) -> list[Text]:
    """Format figures with their 95 % intervals, which are aligned."""
    margins = ["" if error is None else f"{CONFIDENCE * error:.0f}" for _, error in figures]
    width, form = max(map(len, margins)), "+.0f" if signed else ".0f"
    return [
        UNKNOWN if value is None else Text.assemble((f"{value:{form}}", "bold"), (f" ± {margin:>{width}}", "dim"))
        for (value, _), margin in zip(figures, margins, strict=True)
    ]


def _at(at: datetime | None) -> Text:
    return UNKNOWN if at is None else Text(f"{at.astimezone():%d %b %Y %H:%M}")


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
