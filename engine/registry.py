"""The games by name. The only module that knows them all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.game import Game
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE

GAMES: Final[Mapping[str, Game]] = MappingProxyType({game.name: game for game in (SIXTH_SENSE, NULLERN)})
