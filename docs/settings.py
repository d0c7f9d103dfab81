"""Writes docs/settings.md from the fields of a server's configuration: `python docs/settings.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.cli.operate.config_file import written
from arena.cli.operate.settings import MOST, SETTINGS, TABLES, TITLES, ServerSetting

PAGE = Path(__file__).with_name("settings.md")
INTRODUCTION = """\
# Settings

Everything an operator decides about a server. A setting has one name: `byte_rate` is `--byte-rate` on the command line
of `arena serve` and `byte_rate` in its file. The file (`--config FILE`) goes before the defaults, a flag before the
file. `arena serve --print-config` prints all settings as they would be used, in the form of a file to begin with:

    arena serve --print-config > arena.toml
    arena serve --config arena.toml --patience 5

The file is TOML. Its settings stand at the top, those of the tables below in `[limits]`, `[policy]` and `[transport]`.
What is misspelt, of the wrong type or out of its bounds is refused by name, with exit status 2. Durations are seconds,
whole or not. Paths are from the directory in which `arena serve` is started. Switches are turned off by `--no-`, as in
`--no-house`; `luck` is repeated on the command line (`--luck nullern --luck sixth_sense`) and a list in the file.

Games have tables of their own, and those that have one are the games offered; `--game`, `--seats` and `--option` say
the same on the command line, and go before them:

    [games.sixth_sense]
    seats = [3, 4]
    options = { target = 50 }

    [games.nullern]

This page is made of the fields of `Config`, `Limits`, `Policy` and `TransportSettings` (`python docs/settings.py`).
"""


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(section for table in ("", *TABLES) for section in _section(table))


def _section(table: str) -> Iterator[str]:
    yield f"\n## [{table}]: {TITLES[table][0].lower()}{TITLES[table][1:-1]}\n\n" if table else "\n## At the top\n\n"
    yield "| setting | unit | default | from | to | meaning |\n|---|---|---|---|---|---|\n"
    yield from (_row(setting) for setting in SETTINGS.values() if setting.table == table)


def _row(setting: ServerSetting) -> str:
    unit = "s" if setting.unit == "us" else setting.unit
    default = "" if setting.default is None else f"`{written(setting.default)}`"
    least = f"{setting.least:.12g}" if setting.kind in (int, float) else ""
    most = f"{setting.most:.12g}" if least and setting.most != MOST else ""
    return f"| `{setting.name}` | {unit} | {default} | {least} | {most} | {setting.meaning} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
