"""The style of all tables of the command line."""

from __future__ import annotations

from typing import Final

from rich import box
from rich.table import Table

FRAME: Final = box.Box("╭──╮\n│  │\n├──┤\n│  │\n├──┤\n├──┤\n│  │\n╰──╯\n")
"""A rounded frame without lines between columns."""


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
