"""Writes docs/commands.md from the verbs of the `arena` command: `python docs/commands.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from arena.cli.main import GROUPS, main

PAGE = Path(__file__).with_name("commands.md")
INTRODUCTION = """\
# Commands

For everyone at a terminal. Every verb of `arena`, with an example. `arena VERB --help` has all its options.

- Verbs that read results work on a running server (`--server HOST:PORT`) or on a data directory (`--data DIR`).
- Verbs that print a table also print it as `--json`. The help lists the keys.
- The exit status is 0 for success, 1 for a failure, 2 for a wrong command line. The help names a verb's other statuses.
- For completion run `eval "$(_ARENA_COMPLETE=bash_source arena)"` in bash. For zsh, write `zsh_source` instead.

This page is generated from the program by `python docs/commands.py`.
"""


def page() -> str:
    """Return the page as Markdown."""
    return INTRODUCTION + "".join(
        f"\n## {title}\n\n| command | purpose | example |\n|---|---|---|\n" + "".join(_rows(main, (), verbs))
        for title, verbs in GROUPS.items()
    )


def _rows(group: click.Group, path: tuple[str, ...], names: Iterable[str]) -> Iterator[str]:
    context = click.Context(group)
    for name in names:
        command = group.get_command(context, name)
        assert command is not None
        yield _row((*path, name), command)
        if isinstance(command, click.Group):
            yield from _rows(command, (*path, name), command.list_commands(context))


def _row(words: tuple[str, ...], command: click.Command) -> str:
    purpose = " ".join((command.help or "").split("\n\n")[0].split())
    example = (command.epilog or "").removeprefix("Example: ").replace("|", "\\|")
    return f"| `arena {' '.join(words)}` | {purpose} | `{example}` |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
