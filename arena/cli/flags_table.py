"""Flags in words: what stands out in the results of a ladder. It only draws rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.fitted_table import FittedTable, TableColumn
from arena.client.flags import MEANING, sentence
from arena.ladder.ladder import FlagKind
from arena.store.rows import FlagRow

MARK: Final = "⚑"


def flagged(flags: Sequence[FlagRow], bot: str, version: str | None = None) -> tuple[FlagRow, ...]:
    """Return the flags that are about a bot; with `version`, of its changes only those of this version."""
    return tuple(
        flag
        for flag in flags
        if bot in {flag.bot, flag.other}
        and (flag.kind is not FlagKind.CHANGE or version is None or flag.version == version)
    )


def flags_table(game: str, flags: Sequence[FlagRow]) -> RenderableType:
    """Draw at least one flag, with what it means."""
    columns = [
        TableColumn("Kind", [Text(flag.kind.value) for flag in flags], "left", style="dim"),
        TableColumn("What stands out", [Text(sentence(flag)) for flag in flags], "left", folds=True),
        TableColumn("Results", [Text(str(flag.matches)) for flag in flags]),
        TableColumn("Errors", [Text(f"{abs(flag.errors):.1f}") for flag in flags]),
    ]
    return Group(FittedTable(f"What stands out in {game}", columns, ("Kind",)), Text(MEANING, "dim"))
