"""Query and path parameters of the interface, each with its schema and its parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any, Final, Literal, TypeAlias

from arena.queries.source import LARGEST_MATCH
from arena.web.requests.numbers import MOST_SEASONS, whole_number
from engine.registry import GAMES

Asked: TypeAlias = Mapping[str, Any]
"""The values of an endpoint's parameters, by name."""
SHOWN: Final = 80
"""Maximum number of characters that an error quotes from a wrong value."""


class BadParameterError(Exception):
    """A parameter that is invalid, missing or unknown."""

    def __init__(self, name: str, value: str, what: str, in_path: bool = False) -> None:
        """Create the error. `what` is the problem, worded to follow the parameter's name."""
        super().__init__(f"{name} {what}")
        self.name = name
        self.value = value[:SHOWN]
        self.in_path = in_path
        """True if the parameter is part of the path. The address then does not exist."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an endpoint."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the parameter's value."""
    read: Callable[[str], Any]
    """Convert the parameter's text to a value, or raise ValueError with the violated rule as its message."""
    where: Literal["path", "query"] = "query"
    required: bool = False
    default: Any = None

    def value(self, text: str | None) -> Any:
        """Return the value of a text, or the default for no text. Raises: BadParameterError."""
        if not text:
            if self.required:
                raise BadParameterError(self.name, "", "is required here", self.where == "path")
            return self.default
        try:
            return self.read(text)
        except ValueError as error:
            raise BadParameterError(self.name, text, f"{error}, not {text[:SHOWN]!r}", self.where == "path") from None


def number(name: str, description: str, least: int, most: int, default: int | None = None, **more: Any) -> Parameter:
    """Return a parameter for an integer within bounds."""

    def read(text: str) -> int:
        if (found := whole_number(text, least, most)) is None:
            raise ValueError(f"is a whole number from {least} to {most}")
        return found

    schema: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    if default is not None:
        schema["default"] = default
    return Parameter(name, description, schema, read, default=default, **more)


def words(name: str, description: str, **more: Any) -> Parameter:
    """Return a parameter for text that is used unchanged."""
    return Parameter(name, description, {"type": "string"}, str, **more)


def one_of(name: str, description: str, values: Sequence[str]) -> Parameter:
    """Return a parameter that must be one of the given words."""

    def read(text: str) -> str:
        if text not in values:
            raise ValueError(f"is one of {', '.join(values)}")
        return text

    return Parameter(name, description, {"type": "string", "enum": [*values]}, read, default="")


def ticked(name: str, description: str) -> Parameter:
    """Return a parameter that is 1 for yes and 0 for no, which is the default."""

    def read(text: str) -> bool:
        if text not in {"0", "1"}:
            raise ValueError("is 1 or 0")
        return text == "1"

    return Parameter(name, description, {"type": "integer", "enum": [0, 1], "default": 0}, read, default=False)


def instant(name: str, description: str, *, required: bool = True, ends: bool = False) -> Parameter:
    """Return a parameter for a date or time, in UTC unless the text names another zone.

    A date without a time means the start of the day, or the end with `ends`.
    """

    def read(text: str) -> datetime:
        rule = "is a date or time since 1970 in ISO 8601, such as 2026-01-31 or 2026-01-31T18:00:00Z"
        try:
            at = datetime.fromisoformat(text)
            if ends and len(text) <= len("2026-01-31"):
                at = datetime.combine(at, time.max)
            at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValueError(rule) from None
        if at.year < 1970:
            raise ValueError(rule)
        return at

    return Parameter(name, description, {"type": "string", "format": "date-time"}, read, required=required)


MATCH: Final = number("match", "The match's number.", 0, LARGEST_MATCH, where="path", required=True)
BOT: Final = words("name", "The bot's name, in any case.", where="path", required=True)
OF_GAME: Final = one_of("game", "Only of this game; without it, of every one.", [*GAMES])
LADDER: Final = words("ladder", "The ladder's name. That of a game is its default one.", where="path", required=True)
OF_LADDER: Final = words("ladder", "Only of this ladder; without it, of the game's default one.", default="")
SEASON: Final = number("season", "The season of the ladder; without it, the current one.", 1, MOST_SEASONS)
OF_BOT: Final = words("bot", "Only of this bot.", default="")
BEFORE_MATCH: Final = number("before", "Only matches older than the one of this number.", 1, LARGEST_MATCH)
