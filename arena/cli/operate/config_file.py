"""Reading and writing of the TOML file of `arena serve --config`. Errors name file and key.

Keys are the names of the settings; those of `Limits`, `Policy` and `TransportSettings` are in tables. A table
`games.NAME` offers a game, with its `seats` and `options`; if there is any, only those games are offered.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from arena.cli.game_options import parse_ladders
from arena.cli.operate.settings import SETTINGS, TABLES, TITLES, ServerSetting, SettingError, Value
from engine.game import OptionError, option_text
from engine.registry import GAMES

if TYPE_CHECKING:
    from pathlib import Path

    from arena.server.config import Config, LadderTable

GAME_TABLE: Final = "games"


class ConfigFileError(ValueError):
    """The file cannot be read or has an invalid entry. The text names file, key and value."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The contents of a configuration file."""

    values: Mapping[str, Value] = field(default_factory=dict)
    """Checked values of settings, by name."""
    seats: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Table sizes of every game that the file offers, as words for `parse_ladders`; empty if it names no game."""
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Options of every game that the file offers, as words for `parse_ladders`."""

    def ladders(self, games: Sequence[str], seats: Sequence[str], options: Sequence[str]) -> tuple[LadderTable, ...]:
        """Return the ladders to serve; arguments come from the command line and override the file.

        Raises: OptionError.
        """
        chosen = [*(games or self.seats)]
        told = {word.partition(":")[0] if ":" in word else "" for word in seats}
        usual = [word for name in chosen if not told & {"", name} for word in self.seats.get(name, ())]
        kept = [word for name in chosen for word in self.options.get(name, ())]
        return parse_ladders(GAMES, chosen, [*usual, *seats], [*kept, *options])


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file.

    Raises:
        ConfigFileError: The file cannot be read or has an invalid entry.
    """
    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise ConfigFileError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigFileError(f"{path} is not TOML: {error}") from None
    try:
        return _checked(document)
    except (ConfigFileError, OptionError) as error:
        raise ConfigFileError(f"{path}: {error}") from None


def write_config(config: Config) -> str:
    """Return the text of a file with this configuration. Each setting has its meaning as a comment."""
    return "\n".join(chain(_head(), _settings(config, ""), *(_table(config, name) for name in TABLES), _games(config)))


def _checked(document: dict[str, Any]) -> ConfigFile:
    values: dict[str, Value] = {}
    games: Mapping[str, Any] = {}
    for key, value in document.items():
        if key == GAME_TABLE:
            games = _as_table(key, value)
        elif key in TABLES:
            for name, inner in _as_table(key, value).items():
                values[name] = _value(key, name, inner)
        else:
            values[key] = _value("", key, value)
    read = ConfigFile(values, *_games_read(games))
    read.ladders((), (), ())
    return read


def _value(table: str, name: str, value: object) -> Value:
    setting = SETTINGS.get(name)
    if setting is None or setting.table != table:
        raise ConfigFileError(_unknown(table, name, setting))
    try:
        return setting.checked(value)
    except SettingError as error:
        raise ConfigFileError(f"{_dotted(table, name)} {error}") from None


def _unknown(table: str, name: str, elsewhere: ServerSetting | None) -> str:
    there = [setting.name for setting in SETTINGS.values() if setting.table == table]
    if not table:
        there += [*TABLES, GAME_TABLE]
    if elsewhere is None and not get_close_matches(name, there, 1):
        elsewhere = next((SETTINGS[match] for match in get_close_matches(name, SETTINGS, 1)), None)
    if elsewhere is not None:
        place = f"in the table [{elsewhere.table}]" if elsewhere.table else "at the top, before any table"
        return f"{_dotted(table, name)} is no setting; {elsewhere.name} is one, {place}"
    return f"{_dotted(table, name)} is no setting; {_suggested(name, there)}"


def _games_read(games: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return table sizes and options of every game, as words for `parse_ladders`."""
    seats: dict[str, list[str]] = {}
    options: dict[str, list[str]] = {}
    for name, table in games.items():
        if name not in GAMES:
            raise ConfigFileError(f"{_dotted(GAME_TABLE, name)} is no game; {_suggested(name, GAMES)}")
        here = f"{GAME_TABLE}.{name}"
        seats[name], options[name] = [], []
        for key, value in _as_table(here, table).items():
            if key == "seats":
                seats[name] = [f"{name}:{size}" for size in _sizes(f"{here}.seats", value)]
            elif key == "options":
                options[name] = [*_option_words(name, _as_table(f"{here}.options", value))]
            else:
                raise ConfigFileError(f"{_dotted(here, key)} is no setting; {_suggested(key, ('seats', 'options'))}")
    return seats, options


def _sizes(key: str, value: object) -> list[int]:
    if isinstance(value, list) and value and all(type(size) is int and size >= 0 for size in value):
        return value
    raise ConfigFileError(f"{key} must be a list of whole numbers, not {value!r}")


def _option_words(game: str, options: Mapping[str, Any]) -> Iterator[str]:
    known = [spec.name for spec in GAMES[game].options]
    for name, value in options.items():
        here = _dotted(f"{GAME_TABLE}.{game}.options", name)
        if name not in known:
            raise ConfigFileError(f"{here} is no option; {_suggested(name, known)}")
        if type(value) not in (bool, int):
            raise ConfigFileError(f"{here} must be true, false or a whole number, not {value!r}")
        yield f"{game}:{name}={option_text(value)}"


def _as_table(key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigFileError(f"{key} must be a table, not {value!r}")
    return value


def _suggested(name: str, there: Iterable[str]) -> str:
    known = [*there]
    if close := get_close_matches(name, known, 1):
        return f"did you mean {close[0]}?"
    return f"there is {', '.join(known) or 'none'}"


def _dotted(table: str, name: str) -> str:
    """Return a dotted TOML key."""
    key = name if name.isascii() and name.replace("-", "_").isidentifier() else _text(name)
    return f"{table}.{key}" if table else key


# --- writing ---


def _head() -> Iterator[str]:
    yield "# The settings of a server, for `arena serve --config FILE`. A flag goes before its line here."


def _table(config: Config, table: str) -> Iterator[str]:
    yield from ("", f"# {TITLES[table]}", f"[{table}]")
    yield from _settings(config, table)


def _settings(config: Config, table: str) -> Iterator[str]:
    for setting in SETTINGS.values():
        if setting.table == table:
            value = setting.of(config)
            yield from ("", f"# {setting.meaning}", f"# It is {setting.takes}; {_default(setting)}.")
            unset = "0" if setting.kind is int else '""'
            yield f"# {setting.name} = {unset}" if value is None else f"{setting.name} = {written(value)}"


def _default(setting: ServerSetting) -> str:
    return "none by default" if setting.default is None else f"{written(setting.default)} by default"


def _games(config: Config) -> Iterator[str]:
    yield from (
        "",
        "# The games that are played, each at tables of these sizes, of which one is drawn for every match.",
    )
    for ladder in config.ladder_tables:
        yield f"[{GAME_TABLE}.{ladder.game.name}]"
        yield f"seats = {written([*ladder.seats])}"
        options = ", ".join(f"{name} = {option_text(value)}" for name, value in ladder.options.items())
        yield from (f"options = {{ {options} }}", "") if options else ("",)


def written(value: Value | Sequence[int]) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return option_text(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return str(int(value)) if value == int(value) else repr(value)
    assert value is not None
    return f"[{', '.join(map(written, value))}]"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
