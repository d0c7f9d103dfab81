"""Flags in words: what stands out in the results of a ladder. It only draws rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.queries.figures import FLAG_MEANING, flag_in_words
from arena.store.base.rows import FlagRow

MARK: Final = "⚑"


def flags_table(game: str, flags: Sequence[FlagRow]) -> RenderableType:
    """Draw at least one flag, with what it means."""
    columns = [
        TableColumn("Kind", [Text(flag.kind.value) for flag in flags], "left", style="dim"),
        TableColumn("What stands out", [Text(flag_in_words(flag)) for flag in flags], "left", folds=True),
        TableColumn("Results", [Text(str(flag.matches)) for flag in flags]),
        TableColumn("Errors", [Text(f"{abs(flag.errors):.1f}") for flag in flags]),
    ]
    return Group(FittedTable(f"What stands out in {game}", columns, ("Kind",)), Text(FLAG_MEANING, "dim"))
