"""What verbs print on: tables in colour for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, is_dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH: Final = 120
"""Columns where nobody says how many there are."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")


def screen(stderr: bool = False) -> Console:
    """Standard output or error. Without a terminal there are no colours, and the width is COLUMNS or 120."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_json(document: dict[str, object]) -> None:
    """One document; rows are objects with their fields' names, instants are ISO 8601 in UTC."""
    click.echo(json.dumps(document, default=_plain, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{value!r} has no JSON form")
