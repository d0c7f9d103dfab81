"""Output of verbs: a Rich console for people, one JSON document for programs, and the progress of a copy on standard
error.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from inspect import cleandoc
from textwrap import fill
from typing import TYPE_CHECKING, Final, TypeVar, get_args, get_type_hints

import click

from arena.queries.json_form import json_key, json_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH: Final = 120
"""Number of columns if the output is not a terminal and COLUMNS is not set."""
HELP_WIDTH: Final = 80
"""Maximum width of a help text."""
Verb = TypeVar("Verb", bound="Callable[..., object]")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")


def json_rows(*rows: type) -> Callable[[Verb], Verb]:
    """Add --json to a verb, and replace the names of row classes in its help with their fields."""

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
    """Return a console for stdout or stderr. Without a terminal it has no colours and a width of COLUMNS or 120."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_json(document: object) -> None:
    """Print one JSON document, formatted by `json_text`."""
    click.echo(json_text(document, indent=2 if sys.stdout.isatty() else None))


def answer(document: dict[str, object], words: str, as_json: bool) -> None:
    """Print the outcome of a verb: one JSON document, or a sentence."""
    if as_json:
        print_json(document)
    else:
        click.echo(words)


def print_rows(
    key: str, rows: Sequence[object], table: Callable[[], RenderableType], as_json: bool, none: str = "", hint: str = ""
) -> None:
    """Print rows: one JSON document with this key, or a table with a hint below it, or the sentence `none`."""
    if as_json:
        print_json({key: rows})
        return
    console = screen()
    console.print(table() if rows or not none else none)
    if rows and hint:
        console.print(hint, style="dim", soft_wrap=True)


def _shape(row: type) -> str:
    """Return the JSON keys of a row class in the order of its fields, nested rows included."""
    parts, hints = [], get_type_hints(row)
    for each in fields(row):
        kinds = get_args(hints[each.name])
        inner = next((_shape(kind) for kind in kinds if isinstance(kind, type) and is_dataclass(kind)), "")
        several = f"[{inner}]" if Ellipsis in kinds else inner
        parts.append(f'"{json_key(each)}": {several}' if inner else f'"{json_key(each)}"')
    return f"{{{', '.join(parts)}}}"


@contextmanager
def copy_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows the progress of a copy. In a pipe it shows nothing in the first second."""
    console, shown = screen(stderr=True), time.monotonic()
    if console.is_terminal:
        from rich.progress import Progress

        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(what)
            yield lambda done, whole: progress.update(task, completed=done, total=whole)
        return

    def show(done: int, whole: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= 1:
            shown = time.monotonic()
            console.print(f"{what}: {100 * done // max(whole, 1)} %", soft_wrap=True)

    yield show
