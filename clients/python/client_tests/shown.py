"""Views of the engine as a bot receives them."""

from __future__ import annotations

from functools import cache
from typing import Any

from arena_client import Catalog, View
from arena_client.caller import as_decision
from arena_client.v1 import play_pb2

from arena.api.codec import encode_view
from arena.api.game_codecs import encode_catalog
from engine.game import Game


@cache
def catalog(game: Game) -> Catalog:
    """Return a game's catalogue as a server sends it."""
    return Catalog.of(encode_catalog(game))


def shown(game: Game, view: Any) -> View:
    """Convert the engine's view to the message that a bot receives."""
    return as_decision(play_pb2.Decision.FromString(encode_view(view)), {game.name: catalog(game)}).view
