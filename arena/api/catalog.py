"""A game's catalogue as a protobuf message: cards, actions and options by their numbers, and descriptors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from arena_client.v1 import game_pb2

from arena.api.game_codecs import other_messages
from arena.protobuf.any_messages import described
from engine.game import option_text

if TYPE_CHECKING:
    from engine.game import Game


@cache
def encode_catalog(game: Game) -> game_pb2.GameCatalog:
    """Encode the catalogue of a game. The message is cached and shared: do not change it."""
    catalog = game_pb2.GameCatalog(
        name=game.name,
        title=game.title,
        min_seats=game.seats[0],
        max_seats=game.seats[-1],
        colours=game.colours,
        cards=[game_pb2.Card(name=card.name, colour=card.colour, values=card.values) for card in game.cards],
        actions=[
            game_pb2.Action(
                name=action.name, kind=action.kind, card=action.card, value=action.value, place=action.place
            )
            for action in game.actions
        ],
        options=[
            game_pb2.GameOption(
                name=option.name, default_value=option_text(option.default), description=option.description
            )
            for option in game.options
        ],
    )
    if (kinds := other_messages(game.name)) is not None:
        catalog.descriptors = described(*kinds)
        catalog.view_type, catalog.record_type = [kind.DESCRIPTOR.full_name for kind in kinds]
    return catalog
