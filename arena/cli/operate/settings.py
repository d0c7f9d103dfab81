"""The settings of a server, derived from the fields of `Config`, which define name, type, unit, bounds and meaning.

A setting has the name of its field: `byte_rate` in a file, `--byte-rate` as a flag. Values in this module are in the
form that people write: durations are in seconds, even if the field counts microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, TypeAlias, cast, get_args, get_origin, get_type_hints

from arena.server.config import Config, LadderTable

Value: TypeAlias = bool | int | float | str | list[str] | None
"""A setting's value in TOML; None if it is absent."""

MOST: Final = 1_000_000_000
"""Upper bound of settings without a specific bound, small enough for every use."""
DAY: Final = 86_400
"""Upper bound of durations without a specific bound, in seconds."""
ALL: Final = "all"
OFF: Final = "off"
UNITS: Final = {
    "": "",
    "s": "of seconds",
    "us": "of seconds",
    "B": "of bytes",
    "B/s": "of bytes a second",
    "1/s": "a second",
    "%": "of percent",
}
"""The displayed unit of a setting, by the unit of its field."""


class SettingError(ValueError):
    """A value that a setting does not accept. The message lists the accepted values."""


@dataclass(frozen=True, slots=True)
class ServerSetting:
    """A setting that an operator can change."""

    name: str
    """Name of the field, and key in a file."""
    table: str
    """Field of `Config` that holds the setting's dataclass, and table in a file; "" for a field of `Config` itself."""
    kind: type
    """Type of the written value: bool, int, float, str, Path, or frozenset of the `choices`."""
    default: Value
    unit: str
    """One of `UNITS`."""
    meaning: str
    choices: tuple[str, ...]
    least: float
    most: float

    @property
    def flag(self) -> str:
        """Flag of `arena serve`."""
        return "--" + self.name.replace("_", "-")

    @property
    def takes(self) -> str:
        """The values that the setting accepts, in words."""
        if self.kind is bool:
            return "true or false"
        if self.kind is frozenset:
            return f"a list of {', '.join(self.choices)}, or of {ALL} or {OFF} alone"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind not in (int, float):
            return "a path" if self.kind is Path else "a text"
        what = "a whole number" if self.kind is int else "a number"
        upper = "up" if self.most == MOST else f"to {self.most:,.12g}"
        return " ".join(filter(None, (what, UNITS[self.unit], f"from {self.least:,.12g} {upper}")))

    def checked(self, value: object) -> Value:
        """Normalize a value from a file or a flag. Raises SettingError if the setting does not accept it."""
        if self.kind is frozenset and isinstance(value, list | tuple):
            return self._chosen([*value])
        if self.kind is float and type(value) is int and value <= MOST:  # A larger int may not fit a float.
            value = float(value)
        wanted = str if self.kind is Path else self.kind
        if type(value) is wanted and self._allows(value):
            return cast("Value", value)
        raise SettingError(f"must be {self.takes}, not {value!r}")

    def parsed(self, text: str) -> Value:
        """Parse a value from the command line. Raises: SettingError."""
        value: object = text
        if self.kind in (int, float):
            with suppress(ValueError):
                value = self.kind(text)
        return self.checked(value)

    def stored(self, value: Value) -> Any:
        """Convert a checked value to the form that the field stores."""
        if value is None:
            return None
        if self.unit == "us" and isinstance(value, float):
            return round(value * 1e6)
        if isinstance(value, list):
            return frozenset(value)
        return Path(value) if self.kind is Path and isinstance(value, str) else value

    def shown(self, stored: Any) -> Value:
        """Convert the field's value to the form that people write."""
        if self.kind is frozenset:
            return sorted(stored)
        if self.unit == "us":
            return float(stored / 1e6)
        return str(stored) if isinstance(stored, Path) else cast("Value", stored)

    def of(self, config: Config) -> Value:
        """Return the setting's value in a configuration."""
        return self.shown(getattr(getattr(config, self.table) if self.table else config, self.name))

    def _allows(self, value: object) -> bool:
        if isinstance(value, bool):
            return True
        if isinstance(value, str):
            return value in self.choices if self.choices else bool(value) and "\0" not in value
        return isinstance(value, int | float) and self.least <= value <= self.most

    def _chosen(self, words: list[object]) -> list[str]:
        if words == [ALL]:
            return sorted(self.choices)
        if words == [OFF]:
            return []
        if any(word not in self.choices for word in words):
            raise SettingError(f"must be {self.takes}, not {', '.join(map(str, words))}")
        return sorted({str(word) for word in words})


def walk(holder: type = Config, table: str = "") -> Iterator[ServerSetting]:
    """Yield every setting of a dataclass, including those of nested dataclasses."""
    hints = get_type_hints(holder)
    for each in fields(holder):
        if is_dataclass(hint := hints[each.name]):
            assert isinstance(hint, type)
            yield from walk(hint, each.name)
        elif each.name != "ladder_tables":  # Games, tables and options are parsed by `game_options`.
            yield _setting(each.name, table, hint, each.default, each.metadata)


def configure(ladders: tuple[LadderTable, ...], values: Mapping[str, Value]) -> Config:
    """Return the configuration with the given checked values, by name, and defaults for all other settings."""
    changed: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        setting = SETTINGS[name]
        changed.setdefault(setting.table, {})[name] = setting.stored(value)
    own = changed.pop("", {})
    tables: dict[str, Any] = {table: TABLES[table](**inner) for table, inner in changed.items()}
    return Config(ladders, **own, **tables)


def _setting(name: str, table: str, hint: Any, default: Any, metadata: Mapping[str, Any]) -> ServerSetting:
    assert default is not MISSING, name
    choices: tuple[str, ...] = metadata.get("choices", ())
    if get_origin(hint) is Literal:
        hint, choices = str, get_args(hint)
    elif isinstance(hint, UnionType):  # Optional: the type or None.
        hint = next(part for part in get_args(hint) if part is not type(None))
    unit: str = metadata.get("unit", "")
    kind = float if unit == "us" else get_origin(hint) or hint
    least, most = metadata.get("least", 0), metadata.get("most", DAY if unit in ("s", "us") else MOST)
    setting = ServerSetting(name, table, kind, None, unit, metadata["help"], choices, least, most)
    return replace(setting, default=setting.shown(default))


SETTINGS: Final = {setting.name: setting for setting in walk()}
TABLES: Final[Mapping[str, Any]] = {name: hint for name, hint in get_type_hints(Config).items() if is_dataclass(hint)}
TITLES: Final = {each.name: each.metadata["help"] for each in fields(Config) if each.name in TABLES}
"""Heading of every table, by its name."""
