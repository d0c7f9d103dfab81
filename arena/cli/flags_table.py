"""Flags in words: what stands out in the results of a ladder. It only draws rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.fitted_table import FittedTable, TableColumn
from arena.ladder.ladder import FlagKind
from arena.store.rows import FlagRow

MARK: Final = "⚑"
MEANING: Final = (
    "A flag says that results stand out from what the ratings expect, by how much and how surely. It is no verdict: "
    "bots may suit or learn from each other, and of many honest ones some stand out by chance. No rating depends on "
    "it; only the operator takes results back, with a reason that everybody sees."
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


def sentence(flag: FlagRow) -> str:
    """Say what a flag is about, in one sentence without its errors."""
    bot = flag.bot + (f" of {flag.owner}" if flag.owner not in {"", flag.bot} else "")
    other = flag.other + (f" of {flag.other_owner}" if flag.other_owner not in {"", flag.other} else "")
    match flag.kind:
        case FlagKind.PAIR:
            return f"{bot} scores {100 * flag.size:.0f} points in 100 more against {other} than their ratings say"
        case FlagKind.OWNERS:
            who = f"{flag.owner or flag.bot} score {100 * flag.size:.0f} points in 100 more against those of"
            return f"The bots of {who} {flag.other_owner or flag.other} than their ratings say, most of all {flag.bot}"
        case FlagKind.LIFT:
            alone = flag.other_owner in {"", flag.other}
            whom = flag.other if alone else f"the bots of {flag.other_owner}, such as {flag.other}"
            return f"{bot} would stand {flag.size:.0f} Elo lower without its results against {whom}"
        case FlagKind.CHANGE:
            version = f" as {flag.version}" if flag.version else ""
            how = "better" if flag.size > 0 else "worse"
            return (
                f"{bot}{version} was {abs(flag.size):.0f} Elo {how} in the newer half of its results than in the older"
            )
