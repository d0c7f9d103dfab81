"""Writes docs/settings.md from the fields of a server's configuration: `python docs/settings.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.cli.operate.config_file import written
from arena.cli.operate.settings import MOST, SETTINGS, TABLES, TITLES, ServerSetting

PAGE = Path(__file__).with_name("settings.md")
INTRODUCTION = """\
# Settings

Everything that an operator decides about a server. A setting has one name: `byte_rate` is `--byte-rate` on the command line
of `arena serve` and `byte_rate` in a file. A flag overrides the file (`--config FILE`), and the file overrides the
default. `arena serve --print-config` prints all settings in effect, as a file to start from:

    arena serve --print-config > arena.toml
    arena serve --config arena.toml --patience 5

The file is TOML. The first table below is at its top, the others are `[limits]`, `[policy]` and `[transport]`. A misspelt
name, a wrong type or a value out of bounds is refused by name, with exit status 2. Durations are seconds, whole or not.
Paths are relative to the directory in which `arena serve` starts. `--no-` turns switches off, as in `--no-house`. A list
is a repeated flag: `--luck nullern --luck sixth_sense`.

A server offers the games that have tables in the file. `--game`, `--seats` and `--option` override these:

    [games.sixth_sense]
    seats = [3, 4]
    options = { target = 50 }

    [games.nullern]

This page is generated from the fields of `Config`, `Limits`, `Policy` and `TransportSettings` (`python docs/settings.py`).
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
