"""The fields of views and reports as the protocol defines them, and as a bot without the game's code reads them."""

from __future__ import annotations

from typing import Any

from arena_client.descriptors import pool_of, unpacked
from arena_client.v1 import play_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from arena.api.game_codecs import encode_catalog
from engine.game import Game

RENAMED = {"hand_size": "cards_each"}
"""Engine fields with another name in the protocol."""
ABSENT_FOR_0 = {"rounds", "target"}
"""Optional numbers that the engine represents as 0."""


def sent_fields(value: Any, message: Descriptor) -> dict[str, Any]:
    """Return the fields of a view or report with the values from its message. Absent fields are None."""
    fields = message.fields_by_name
    return {name: _sent(fields.get(name), each) for name, each in _named(value, fields).items()}


def _named(value: Any, fields: Any) -> dict[str, Any]:
    return {(RENAMED.get(name, name) if name not in fields else name): each for name, each in value._asdict().items()}


def _sent(field: FieldDescriptor | None, value: Any) -> Any:
    if field is None:
        return value
    if field.message_type is not None:  # a map by seat; the engine stores it as a list of numbers plus one
        return {seat: number - 1 for seat, number in enumerate(value) if number}
    if field.has_presence and field.name in ABSENT_FOR_0:
        return value or None
    if field.type == FieldDescriptor.TYPE_BOOL and field.is_repeated:
        return [*map(bool, value)]
    return value


def view_of(decision: play_pb2.Decision, game: Game) -> Any:
    """Return the view of a decision. Read it by the catalogue if the protocol has no field for the game."""
    return getattr(decision, game.name) if decision.WhichOneof("view") else _read(decision.other, game)


def record_of(report: play_pb2.RoundReport, game: Game) -> Any:
    """Return the record of a round, read in the same way as by `view_of`."""
    return getattr(report, game.name) if report.WhichOneof("record") else _read(report.other, game)


def _read(packed: Any, game: Game) -> Any:
    return unpacked(packed, pool_of([encode_catalog(game)]))
