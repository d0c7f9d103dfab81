"""Reading and writing of the TOML file of `arena serve --config`. Errors name file and key.

Keys are the names of the settings. Settings of `Limits`, `Policy` and `TransportSettings` are in tables. A table
`games.NAME` offers a game, with its `seats` and `options`. If there are such tables, only their games are offered. Each
table `[[ladders]]` is an additional ladder of an offered game.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, Final

from arena.cli.game_options import check_ladder, parse_ladders
from arena.cli.operate.settings import SETTINGS, TABLES, TITLES, ServerSetting, SettingError, Value
from arena.server.config import LADDER_NAME, LADDER_SETTINGS, Config, Entry, LadderTable
from engine.game import Game, Option, OptionError, option_text
from engine.registry import GAMES

HEAD: Final = "# The settings of a server, for `arena serve --config FILE`. A flag goes before its line here."
GAME_TABLE: Final = "games"
LADDER_TABLES: Final = "ladders"
LADDER_KEYS: Final = tuple(each.name for each in fields(LadderTable))
"""The keys of each table in `LADDER_TABLES`."""


class ConfigFileError(ValueError):
    """The file cannot be read or has an invalid entry. The message names file, key and value."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The contents of a configuration file."""

    values: Mapping[str, Value] = field(default_factory=dict)
    """Checked values of settings, by name."""
    seats: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Table sizes of every game that the file offers, as words for `parse_ladders`. Empty if the file names no game."""
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Options of every game that the file offers, as words for `parse_ladders`."""
    further: Sequence[LadderTable] = ()
    """Additional ladders of the games. Ladders without `seats` have the table sizes of the game's default ladder."""

    def ladders(self, games: Sequence[str], seats: Sequence[str], options: Sequence[str]) -> tuple[LadderTable, ...]:
        """Return the ladders to serve. Arguments come from the command line and override the file.

        Raises: OptionError.
        """
        chosen = [*(games or self.seats)]
        told = {word.partition(":")[0] if ":" in word else "" for word in seats}
        usual = [word for name in chosen if not told & {"", name} for word in self.seats.get(name, ())]
        kept = [word for name in chosen for word in self.options.get(name, ())]
        ladders = parse_ladders(GAMES, chosen, [*usual, *seats], [*kept, *options])
        by_game = {ladder.game.name: ladder for ladder in ladders}
        return (*ladders, *(_completed(ladder, by_game) for ladder in self.further))


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file. Raises: ConfigFileError."""
    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise ConfigFileError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigFileError(f"{path} is not TOML: {error}") from None
    try:
        return parse_config(document)
    except (ConfigFileError, OptionError) as error:
        raise ConfigFileError(f"{path}: {error}") from None


def write_config(config: Config) -> str:
    """Return the text of a file with this configuration, with a comment on the meaning of each setting."""
    tables = (_table(config, name) for name in TABLES)
    return "\n".join(chain([HEAD], _settings(config, ""), *tables, _games(config), _ladders(config)))


def parse_config(document: dict[str, Any]) -> ConfigFile:
    """Return the content of a configuration file. Raises: ConfigFileError, OptionError."""
    values: dict[str, Value] = {}
    games: Mapping[str, Any] = {}
    further: Sequence[LadderTable] = ()
    for key, value in document.items():
        if key == GAME_TABLE:
            games = _as_table(key, value)
        elif key == LADDER_TABLES:
            further = _ladders_read(value)
        elif key in TABLES:
            for name, inner in _as_table(key, value).items():
                values[name] = _value(key, name, inner)
        else:
            values[key] = _value("", key, value)
    read = ConfigFile(values, *_games_read(games), further)
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
        there += [*TABLES, GAME_TABLE, LADDER_TABLES]
    if elsewhere is None and not get_close_matches(name, there, 1):
        elsewhere = next((SETTINGS[match] for match in get_close_matches(name, SETTINGS, 1)), None)
    if elsewhere is not None:
        place = f"in the table [{elsewhere.table}]" if elsewhere.table else "at the top, before any table"
        return f"{_dotted(table, name)} is no setting; {elsewhere.name} is one, {place}"
    return f"{_dotted(table, name)} is no setting; {_suggested(name, there)}"


def _games_read(games: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the table sizes and the options of every game, as words for `parse_ladders`."""
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
                given = _options(f"{here}.options", GAMES[name], value)
                options[name] = [f"{name}:{option}={option_text(chosen)}" for option, chosen in given.items()]
            else:
                raise ConfigFileError(f"{_dotted(here, key)} is no setting; {_suggested(key, ('seats', 'options'))}")
    return seats, options


def _sizes(key: str, value: object) -> list[int]:
    if isinstance(value, list) and value and all(type(size) is int and size >= 0 for size in value):
        return value
    raise ConfigFileError(f"{key} must be a list of whole numbers, not {value!r}")


def _options(key: str, game: Game, given: object) -> dict[str, Option]:
    known = [spec.name for spec in game.options]
    options = _as_table(key, given)
    for name, value in options.items():
        if name not in known:
            raise ConfigFileError(f"{_dotted(key, name)} is no option; {_suggested(name, known)}")
        if type(value) not in (bool, int):
            raise ConfigFileError(f"{_dotted(key, name)} must be true, false or a whole number, not {value!r}")
    return options


def _ladders_read(entries: object) -> list[LadderTable]:
    """Return the additional ladders. Missing `seats` are not filled in yet."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigFileError(f"{LADDER_TABLES} must be tables, each below a line [[{LADDER_TABLES}]], not {entries!r}")
    ladders: dict[str, LadderTable] = {}
    for number, entry in enumerate(entries, 1):
        name = _ladder_name(number, entry)
        if name in ladders:
            raise ConfigFileError(f"the ladder {name} is there twice; give one of them another name, or remove it")
        try:
            ladders[name] = _ladder(name, entry)
        except (ConfigFileError, SettingError) as error:
            raise ConfigFileError(f"the ladder {name}: {error}") from None
    return [*ladders.values()]


def _ladder_name(number: int, entry: Mapping[str, Any]) -> str:
    if "name" not in entry:
        raise ConfigFileError(f'ladder {number} of [[{LADDER_TABLES}]] has no name; add one, such as name = "slow"')
    name = entry["name"]
    if not isinstance(name, str) or not LADDER_NAME.fullmatch(name):
        raise ConfigFileError(
            f"{name!r} is no name of a ladder: it must be a text of 1 to 40 lower-case letters, digits, '-' or '_', of "
            "which the first is a letter or digit"
        )
    if name in GAMES:
        raise ConfigFileError(
            f"the ladder {name} cannot have the name of a game, which is that of the game's default ladder: choose "
            f"another, such as {name}-2, or set the seats and options of the default ladder in [{GAME_TABLE}.{name}]"
        )
    return name


def _ladder(name: str, entry: Mapping[str, Any]) -> LadderTable:
    chosen = entry.get("game")
    if not isinstance(chosen, str) or chosen not in GAMES:
        raise ConfigFileError(
            f"game is missing; there is {', '.join(GAMES)}"
            if chosen is None
            else f"game {chosen!r} is no game; {_suggested(str(chosen), GAMES)}"
        )
    values: dict[str, Any] = {}
    for key, value in entry.items():
        if key in LADDER_SETTINGS:
            values[key] = SETTINGS[key].stored(_value("", key, value))
        elif key not in LADDER_KEYS:
            raise ConfigFileError(_unknown_of_ladder(key))
    return LadderTable(
        GAMES[chosen],
        tuple(dict.fromkeys(_sizes("seats", entry["seats"]))) if "seats" in entry else (),
        _options("options", GAMES[chosen], entry.get("options", {})),
        name,
        _entry(entry.get("entry", "open")),
        _policy(entry.get("policy", {})),
        **values,
    )


def _policy(given: object) -> dict[str, int]:
    values = {name: _value("policy", name, value) for name, value in _as_table("policy", given).items()}
    if values.get("soft_limit") == 0:
        raise ConfigFileError(
            "policy.soft_limit must be above 0, not 0: on such a clock no bot could answer in time; give it seconds, "
            "or leave it out"
        )
    return {name: SETTINGS[name].stored(value) for name, value in values.items()}


def _entry(given: object) -> Entry:
    if given == "open" or given == "invited":
        return given
    if not isinstance(given, list) or not given or not all(isinstance(owner, str) for owner in given):
        raise ConfigFileError(f'entry must be "open", "invited" or a list of owners, such as ["ann"], not {given!r}')
    from arena.store.base.errors import NameNotAllowed
    from arena.store.bots.bots import check_name

    for owner in given:
        try:
            check_name(owner)
        except NameNotAllowed as error:
            raise ConfigFileError(f"entry: {owner!r} cannot be an owner: {error}") from None
    return tuple(given)


def _unknown_of_ladder(key: str) -> str:
    setting = SETTINGS.get(key)
    if setting is None:
        return f"{_dotted('', key)} is no setting; {_suggested(key, LADDER_KEYS)}"
    if setting.table == "policy":
        return f"{key} is no setting of a ladder by itself; write policy = {{ {key} = … }}"
    place = f"in the table [{setting.table}]" if setting.table else "at the top of the file"
    return f"{key} is the same for all ladders; set it {place}"


def _completed(ladder: LadderTable, default: Mapping[str, LadderTable]) -> LadderTable:
    """Return a ladder, completed with seats and options of the default ladder of its game.

    Raises: OptionError.
    """
    game = ladder.game.name
    if game not in default:
        raise OptionError(
            f"the ladder {ladder.name} is of {game}, which is not played; play it, by [{GAME_TABLE}.{game}] or "
            f"--game {game}, or remove the ladder"
        )
    usual = default[game]
    ladder = replace(ladder, seats=ladder.seats or usual.seats, options={**usual.options, **ladder.options})
    try:
        check_ladder(ladder)
    except OptionError as error:
        raise OptionError(f"the ladder {ladder.name}: {error}") from None
    return ladder


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
        if not ladder.name:
            yield f"[{GAME_TABLE}.{ladder.game.name}]"
            yield f"seats = {written(ladder.seats)}"
            yield from (f"options = {_inline(ladder.options)}", "") if ladder.options else ("",)


def _ladders(config: Config) -> Iterator[str]:
    yield "# A further ladder of a game is a table [[ladders]]. What it leaves out is as on the game's default ladder."
    yield ""
    for ladder in config.ladder_tables:
        if ladder.name:
            yield f"[[{LADDER_TABLES}]]"
            yield f"name = {written(ladder.name)}"
            yield f"game = {written(ladder.game.name)}"
            yield f"seats = {written(ladder.seats)}"
            yield f"options = {_inline(ladder.options)}"
            yield f"entry = {written(ladder.entry)}"
            yield f"policy = {_inline({name: SETTINGS[name].shown(value) for name, value in ladder.policy.items()})}"
            own = ((name, getattr(ladder, name)) for name in LADDER_SETTINGS)
            yield from (f"{name} = {written(SETTINGS[name].shown(value))}" for name, value in own if value is not None)
            yield ""


def _inline(values: Mapping[str, Value]) -> str:
    return f"{{ {', '.join(f'{name} = {written(value)}' for name, value in values.items())} }}" if values else "{}"


def written(value: Value | Sequence[int] | Sequence[str]) -> str:
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
