"""Output of verbs: a Rich console for people, one JSON document for programs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from inspect import cleandoc
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_type_hints

import click

from arena.store.rows import JSON_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

PIPE_WIDTH: Final = 120
"""Columns where the output is not a terminal and COLUMNS is not set."""
HELP_WIDTH: Final = 80
"""Columns of a line of a help text, at most."""
Verb = TypeVar("Verb", bound="Callable[..., object]")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")


def json_rows(*rows: type) -> Callable[[Verb], Verb]:
    """Add --json to a verb, and replace the names of row classes in its help by their fields."""

    def described(verb: Verb) -> Verb:
        lines = cleandoc(verb.__doc__ or "").splitlines()
        for row in rows:
            lines = [
                fill(line.replace(row.__name__, _shape(row)), HELP_WIDTH) if row.__name__ in line else line
                for line in lines
            ]
        verb.__doc__ = "\n".join(lines)
        return json_option(verb)

    return described


def screen(stderr: bool = False) -> Console:
    """Return a console for stdout or stderr. Without a terminal it has no colours and is COLUMNS or 120 wide."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_json(document: dict[str, object]) -> None:
    """Print one JSON document; rows become objects with their fields, instants ISO 8601 in UTC."""
    click.echo(json.dumps(document, default=_plain, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def _plain(value: object) -> Any:
    if is_dataclass(value):
        return {_key(each): getattr(value, each.name) for each in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{value!r} has no JSON form")


def _shape(row: type) -> str:
    """Return the JSON keys of a row class in the order of its fields, nested rows included."""
    parts, hints = [], get_type_hints(row)
    for each in fields(row):
        kinds = get_args(hints[each.name])
        inner = next((_shape(kind) for kind in kinds if isinstance(kind, type) and is_dataclass(kind)), "")
        several = f"[{inner}]" if Ellipsis in kinds else inner
        parts.append(f'"{_key(each)}": {several}' if inner else f'"{_key(each)}"')
    return f"{{{', '.join(parts)}}}"


def _key(row_field: Field[Any]) -> str:
    return str(row_field.metadata.get(JSON_KEY, row_field.name))
