"""The games by name, each imported on first use. No other module lists all games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol, cast

from engine.game import Game, UnknownGameError

_MODULES: Final = {
    "sixth_sense": "engine.sixth_sense.game:SIXTH_SENSE",
    "nullern": "engine.nullern.game:NULLERN",
}


@cache
def _imported(name: str) -> Game:
    module, _, variable = _MODULES[name].partition(":")
    game: Game = getattr(import_module(module), variable)
    return game


class _Games(Mapping[str, Game]):
    """The games. Each is imported once."""

    def __getitem__(self, name: str) -> Game:
        if name not in _MODULES:
            raise UnknownGameError(f"there is no game {name!r}; there are {', '.join(_MODULES)}")
        return _imported(name)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


GAMES: Final[Mapping[str, Game]] = _Games()
"""`GAMES[name]` raises `UnknownGameError` for an unknown name."""


class Texts(Protocol):
    """The module that puts a game's views and rounds into words."""

    def view_text(self, view: Any, legal: Sequence[int] = ()) -> str:
        """Return everything in a view as text; `legal`: the actions to list with their numbers."""

    def round_text(self, report: Any) -> str:
        """Return a finished round as text, with all cards."""


def texts_of(game: Game) -> Texts:
    """Return the text module in a game's folder.

    Raises:
        ModuleNotFoundError: the game has no text module.
    """
    return cast("Texts", import_module(f"{type(game).__module__.rpartition('.')[0]}.text"))
