"""The codecs of the games' views and round reports: `VIEWS` and `ROUNDS` list the games.

6th Sense and Nullern have fields of their own in `Decision` and `RoundReport`. The messages of every other game are in
the field `other`, and the game's catalogue describes them. So a new game changes neither play.proto nor a client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message

from arena.api import nullern, sixth_sense
from engine.game import RoundReport, SeatView
from engine.nullern import NullernRound, NullernView
from engine.sixth_sense import SixthSenseRound, SixthSenseView


class GameCodec(NamedTuple):
    """The encoder of a game's views or round reports."""

    game: str
    encode: Callable[[Any], Any]
    other: type[Message] | None = None
    """The type of the message in the field `other`; None if the protocol has a field with the game's name."""


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
    """Return the types of the messages in `other` for a game's views and round records; None if the game has its own
    fields.
    """
    kinds = [codec.other for codec in (*VIEWS.values(), *ROUNDS.values()) if codec.game == game]
    view, record = kinds if len(kinds) == 2 else (None, None)
    return None if view is None or record is None else (view, record)
