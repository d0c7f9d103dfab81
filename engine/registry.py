"""The games by name, each imported on first use. No other module lists all games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from engine.game import Game, UnknownGameError

_MODULES: Final = {
    "sixth_sense": "engine.sixth_sense.game:SIXTH_SENSE",
    "nullern": "engine.nullern.game:NULLERN",
}


class _Games(Mapping[str, Game]):
    """The games, each imported once."""

    def __init__(self) -> None:
        self._imported: dict[str, Game] = {}

    def __getitem__(self, name: str) -> Game:
        game = self._imported.get(name)
        if game is None:
            if name not in _MODULES:
                raise UnknownGameError(f"there is no game {name!r}; there are {', '.join(_MODULES)}")
            module, _, variable = _MODULES[name].partition(":")
            loaded: Game = getattr(import_module(module), variable)
            self._imported[name] = loaded
            return loaded
        return game

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


GAMES: Final[Mapping[str, Game]] = _Games()
"""`GAMES[name]` raises `UnknownGameError` for an unknown name."""
