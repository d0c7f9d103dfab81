"""The settings of a server as command-line flags, checked like the file's and grouped by table in the help."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

import click

from arena.cli.operate.config_file import written
from arena.cli.operate.settings import ALL, MOST, OFF, SETTINGS, TITLES, ServerSetting, SettingError, Value

METAVARS: Final = {"s": "SECONDS", "us": "SECONDS", "B": "BYTES", "B/s": "BYTES", "%": "PERCENT"}
"""Placeholder of a flag's value in the help, by unit."""


COMMON: Final = (
    "data",
    "games",
    "seats",
    "address",
    "web",
    "public_url",
    "registration",
    "tls_cert",
    "tls_key",
    "file",
)
"""The options that most servers need, in the order of the help."""


class SettingOption(click.Option):
    """The flag of a setting. Its default is None, so that the file and then the field's default apply."""

    def __init__(self, setting: ServerSetting) -> None:
        self.setting = setting
        flag = setting.flag
        super().__init__(
            [f"{flag}/--no-{flag[2:]}" if setting.kind is bool else flag],
            default=None,
            multiple=setting.kind is frozenset,
            metavar=None if setting.kind is bool else _metavar(setting),
            help=_help(setting),
            callback=self._checked,
        )

    def _checked(self, context: click.Context, _: click.Parameter, typed: Any) -> Value:
        if typed is None or typed == ():
            return None
        try:
            return self.setting.parsed(typed) if isinstance(typed, str) else self.setting.checked(typed)
        except SettingError as error:
            raise click.BadParameter(str(error), context, self) from None


class SettingsCommand(click.Command):
    """A command whose help lists the common options first, and then the other options by table."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: first the common ones, then options without a table, then each table."""
        options = {str(param.name): param for param in self.get_params(ctx)}
        common = [options.pop(name) for name in COMMON]
        for title, params in groupby([*common, *options.values()], _title):
            records = [record for param in params if (record := param.get_help_record(ctx)) is not None]
            with formatter.section(title):
                formatter.write_dl(records)


def setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the flag of every setting to a command, after the options of decorators above this one."""
    own: list[click.Option] = command.__dict__.setdefault("__click_params__", [])
    own[:0] = [SettingOption(setting) for setting in reversed(SETTINGS.values())]
    return command


def _title(param: click.Parameter) -> str:
    if param.name in COMMON:
        return "Options that most servers need"
    table = param.setting.table if isinstance(param, SettingOption) else ""
    return TITLES[table].rstrip(".") if table else "Further options"


def _metavar(setting: ServerSetting) -> str:
    if setting.choices:
        words = (*setting.choices, ALL, OFF) if setting.kind is frozenset else setting.choices
        return f"[{'|'.join(words)}]"
    if setting.kind in (int, float):
        return METAVARS.get(setting.unit, "NUMBER")
    return "TEXT" if setting.kind is str else "PATH"


def _help(setting: ServerSetting) -> str:
    notes = ["repeatable"] if setting.kind is frozenset else []
    if setting.kind is bool:
        notes.append(f"default: {setting.flag[2:] if setting.default else f'no-{setting.flag[2:]}'}")
    elif setting.default is not None:
        notes.append(f"default: {_plain(setting.default)}")
    if setting.kind in (int, float):
        notes.append(
            f"at least {setting.least:,.12g}"
            if setting.most == MOST
            else f"{setting.least:,.12g} to {setting.most:,.12g}"
        )
    return f"{setting.meaning}  [{'; '.join(notes)}]" if notes else setting.meaning


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(value) if isinstance(value, list) else written(value)
