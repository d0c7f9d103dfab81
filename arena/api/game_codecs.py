"""The codecs of the games' views, round reports and catalogues. `VIEWS` and `ROUNDS` list the games.

6th Sense and Nullern have fields of their own in `Decision` and `RoundReport`. The messages of every other game are in
the field `other`, an `Any`. The game's catalogue describes these messages to readers without code for them. So a new
game changes neither play.proto nor a client.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from arena_client.v1 import game_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message

from arena.api import nullern, sixth_sense
from arena.protobuf.fields import FieldPrefix
from arena.protobuf.rows import pack
from engine.game import Game, RoundReport, SeatView, option_text
from engine.nullern import NullernRound, NullernView
from engine.sixth_sense import SixthSenseRound, SixthSenseView

_VALUE = FieldPrefix(AnyMessage, "value")


class GameCodec(NamedTuple):
    """The encoder of a game's views or round reports."""

    game: str
    encode: Callable[[Any], Any]
    other: type[Message] | None = None
    """The type of the message in the field `other`, or None if the protocol has a field for the game."""


VIEWS: Final[dict[type[SeatView], GameCodec]] = {
    SixthSenseView: GameCodec("sixth_sense", sixth_sense.encode_view),
    NullernView: GameCodec("nullern", nullern.encode_view),
}
"""Codecs of views. Their encoders return serialized messages."""
ROUNDS: Final[dict[type[RoundReport], GameCodec]] = {
    SixthSenseRound: GameCodec("sixth_sense", sixth_sense.encode_round),
    NullernRound: GameCodec("nullern", nullern.encode_round),
}
"""Codecs of round reports. Their encoders return message objects."""


def other_messages(game: str) -> tuple[type[Message], type[Message]] | None:
    """Return the types of a game's views and round records in `other`, or None if the game has its own fields."""
    kinds = [codec.other for codec in (*VIEWS.values(), *ROUNDS.values()) if codec.game == game]
    view, record = kinds if len(kinds) == 2 else (None, None)
    return None if view is None or record is None else (view, record)


@cache
def encode_catalog(game: Game) -> game_pb2.GameCatalog:
    """Encode the catalogue of a game. The message is cached and shared: do not change it."""
    catalog = game_pb2.GameCatalog(
        name=game.name,
        title=game.title,
        min_seats=game.seats[0],
        max_seats=game.seats[-1],
        colours=game.colours,
        cards=[pack(card, game_pb2.Card) for card in game.cards],
        actions=[pack(action, game_pb2.Action) for action in game.actions],
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


def in_any(message: Message) -> AnyMessage:
    """Return an `Any` that contains a message."""
    packed = AnyMessage()
    packed.Pack(message)
    return packed


def any_encoder(kind: type[Message], encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return a function that serializes an `Any`. `encode` serializes the message of this type inside it."""
    begin = in_any(kind()).SerializeToString()

    def encoded(value: Any) -> bytes:
        content = encode(value)
        return begin + _VALUE.of(len(content)) + content

    return encoded


def described(*kinds: type[Message]) -> bytes:
    """Return a serialized `FileDescriptorSet` with everything that these messages need, each file after its imports."""
    files: dict[str, Any] = {}

    def add(file: Any) -> None:
        for imported in file.dependencies:
            add(imported)
        files.setdefault(file.name, file)

    for kind in kinds:
        add(kind.DESCRIPTOR.file)
    found = FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(found.file.add())
    return found.SerializeToString()
