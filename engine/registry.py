"""The games by name. The only module that knows them all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.game import Game, UnknownGameError
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE


class _Games(dict[str, Game]):
    def __missing__(self, name: object) -> Game:
        raise UnknownGameError(f"there is no game {name!r}; there are {', '.join(self)}")


GAMES: Final[Mapping[str, Game]] = MappingProxyType(_Games({game.name: game for game in (SIXTH_SENSE, NULLERN)}))
"""`GAMES[name]` raises `UnknownGameError` where there is none."""
