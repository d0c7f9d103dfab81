"""A table that fits the screen. On a narrow screen the least important columns are omitted, and a line names them.

Headings and figures are never cut. Long texts and names continue on the next line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

FRAME: Final = box.Box("╭──╮\n│  │\n├──┤\n│  │\n├──┤\n├──┤\n│  │\n╰──╯\n")
"""A rounded frame without lines between columns."""
WORDS: Final = r"\s+(?!⌂)"
"""Spaces at which a name may wrap: all except the space before the house bots' sign."""
LONGEST_WORD: Final = 24
"""Length of the longest word that is never broken, in characters."""


def framed(title: str) -> Table:
    """Return an empty table in the common style."""
    return Table(
        title=title,
        title_style="bold",
        title_justify="left",
        box=FRAME,
        border_style="dim",
        header_style="bold cyan",
        collapse_padding=True,
    )


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column with all its cells."""

    name: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"
    folds: bool = False
    """True if the column's text may wrap."""
    style: str = ""

    @property
    def width(self) -> int:
        """The width of the column's widest line, in characters."""
        return max(cell_len(line) for line in self._texts("\n"))

    @property
    def narrowest(self) -> int:
        """The smallest width at which the column can be shown."""
        if not self.folds:
            return self.width
        return max(cell_len(self.name), min(LONGEST_WORD, max(map(cell_len, self._texts(WORDS)))))

    @property
    def bare(self) -> bool:
        """True if all cells are empty or 0."""
        return all(cell.plain in {"", "0"} for cell in self.cells)

    def _texts(self, separator: str) -> list[str]:
        return [self.name, *(part for cell in self.cells for part in re.split(separator, cell.plain))]


@dataclass(frozen=True, slots=True)
class DrawnColumn:
    """A column drawn as wide as possible, within limits."""

    name: str
    """The name under which the column is listed if it is omitted."""
    narrowest: int
    width: int
    """The maximum width."""
    draw: Callable[[int], TableColumn]
    """Function that draws the column at the given width."""
    bare: bool = False


class FittedTable:
    """A table that draws itself as wide as the space allows."""

    def __init__(
        self,
        title: str,
        columns: Sequence[TableColumn | DrawnColumn],
        left_out_first: Sequence[str],
        stacked: FittedTable | None = None,
        caption: str = "",
    ) -> None:
        """`stacked` is the table that is drawn if not all columns fit. `caption` is the text below the table."""
        self._title = title
        self._columns = columns
        self._left_out_first = left_out_first
        self._stacked = stacked
        self._caption = caption

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table."""
        fits = _width(self._columns) <= options.max_width
        yield self._table(options.max_width) if fits or self._stacked is None else self._stacked

    def _table(self, width: int) -> Table:
        columns, gone = list(self._columns), []
        named = {column.name: column for column in columns}
        droppable = [named[name] for name in self._left_out_first if name in named]
        for column in sorted(droppable, key=lambda each: not each.bare):
            if _width(columns) <= width:
                break
            columns.remove(column)
            gone += [] if column.bare else [column.name]
        table = framed(self._title)
        words = [f"no room for: {', '.join(gone)} (all with --json)"] if gone else []
        words += [self._caption] if self._caption else []
        if words:
            table.caption = Text(" · ".join(words), style="dim")
            table.caption_justify = "left"
        room, drawn = width - _width(columns), list[Sequence[Text]]()
        for column in columns:
            more = min(max(room, 0), column.width - column.narrowest)
            room -= more
            wide = column.narrowest + more
            shown = column.draw(wide) if isinstance(column, DrawnColumn) else column
            drawn.append(shown.cells)
            table.add_column(
                shown.name,
                justify=shown.justify,
                style=shown.style,
                width=wide + (not table.columns),  # Rich drops the space at the left edge.
                no_wrap=not shown.folds,
                overflow="fold",
            )
        for cells in zip(*drawn, strict=True):
            table.add_row(*cells)
        return table


def _width(columns: Sequence[TableColumn | DrawnColumn]) -> int:
    """Return the minimum width of a `framed` table: two borders, and a space on both sides of each column."""
    return 2 + sum(column.narrowest + 2 for column in columns)
