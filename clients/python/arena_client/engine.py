"""Conversion of views and rounds to the types of the package `engine`, for bots that search or read text.

`GAMES[...].sample(seat_view(view), rng)` samples a game. `view_text` and `round_text` describe a view and a round.

`engine`, the distribution arena-engine in Arena's repository, contains the rules of the games and has no dependencies.
Only bots that import this module need it. A sampled game is a guess that fits the view, never the real game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, get_args, get_origin, get_type_hints

from arena_client.decision import View
from arena_client.errors import ArenaError
from arena_client.v1 import play_pb2
from arena_client.v1.play_pb2 import RoundReport

if TYPE_CHECKING:
    from engine.game import Game, SeatView
    from engine.registry import Texts

_Kind: TypeAlias = tuple[type[Any], tuple[tuple[str, Callable[[Any], Any]], ...]]
"""A class of the engine, and a reader for each of its fields that occurs in a message."""

_RENAMED = {"hand_size": "cards_each"}
"""Fields of the engine's views that have a different name in messages, with that name."""


MISSING = (
    "the rules of the games are not installed: run pip install ./engine in a checkout of the Arena, "
    "or with the file arena_engine-*.whl of its release"
)


class EngineMissingError(ArenaError):
    """The package `engine` is not installed, or lacks the game."""


def seat_view(message: View) -> SeatView:
    """Return a decision's view as the engine's `SeatView`.

    Fields have the same names, except that `cards_each` is `hand_size` in the engine. If the engine lists one value per
    seat (the number plus one, or 0 for none), the message has a map from seats to numbers. Raises `EngineMissingError`
    if the rules of this game are not installed.
    """
    message_kind: Any = type(message)  # mypy wrongly believes that the argument is not hashable.
    kind, fields = _kind(message_kind)
    view: SeatView = kind(**{name: convert(message) for name, convert in fields})
    return view


def view_text(message: View, legal: Sequence[int] = ()) -> str:
    """Return a decision's view as text; `legal`: the actions to list with their numbers.

    Raises:
        EngineMissingError: The rules of this game are not installed.
    """
    view = seat_view(message)
    return _texts(_game_of(type(message))).view_text(view, legal)


def round_text(report: RoundReport, record: Any = None) -> str:
    """Return a finished round as text, with all cards.

    `record`: what `Bot.record` returns for the report, needed only if this client does not contain the game's messages.

    Raises:
        EngineMissingError: The rules of this game are not installed.
    """
    if record is None:
        name = report.WhichOneof("record")
        if name is None:
            raise EngineMissingError("the round is of a game without messages in this client: give bot.record(report)")
        record = getattr(report, name)
    message_kind: Any = type(record)
    kind, fields = _round_kind(message_kind)
    values = {name: tuple(getattr(report, name)) for name in ("points", "scores")}
    known = {name: convert(record) for name, convert in fields if name not in ("round", *values)}
    return _texts(_game_of(type(record))).round_text(kind(round=report.round, **values, **known))


def _game_of(message: type[Any]) -> str:
    """Return the name of the game to which a message type belongs."""
    for choice in (
        play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"],
        play_pb2.RoundReport.DESCRIPTOR.oneofs_by_name["record"],
    ):
        for field in choice.fields:
            if field.message_type is message.DESCRIPTOR:
                return str(field.name)
    # a game without a field of its own, such as leduc.v1.View
    return str(message.DESCRIPTOR.full_name.partition(".")[0])


def _rules(name: str) -> Game:
    try:
        from engine.registry import GAMES
    except ModuleNotFoundError as error:
        raise EngineMissingError(MISSING) from error
    if name not in GAMES:
        raise EngineMissingError(
            f"the rules that are installed have no game {name!r}; they have {', '.join(GAMES)}: install newer ones"
        )
    return GAMES[name]


def _texts(name: str) -> Texts:
    game = _rules(name)
    try:
        from engine.registry import texts_of

        return texts_of(game)
    except ImportError as error:
        raise EngineMissingError(f"the installed rules have no texts of {name!r}: install newer ones") from error


@cache
def _kind(message: type[View]) -> _Kind:
    """Return the engine's view class for a type of message, and a reader for each of its fields."""
    game = _rules(_game_of(message))
    from engine.deal import KEY_BYTES, SeededDecks

    return _fields(message, type(game.new(game.seats.start, SeededDecks(bytes(KEY_BYTES))).view(0)))


@cache
def _round_kind(message: type[Any]) -> _Kind:
    """Return the engine's class of round reports for a type of message, and a reader for each of its own fields."""
    module = import_module(f"{type(_rules(_game_of(message))).__module__.rpartition('.')[0]}.view")
    return _fields(message, next(each for each in vars(module).values() if "points" in getattr(each, "_fields", ())))


def _fields(message: type[Any], kind: type[Any]) -> _Kind:
    fields = {each.name: each for each in message.DESCRIPTOR.fields}
    hints = get_type_hints(kind).items()
    named = [(field, _RENAMED.get(field, field), hint) for field, hint in hints]
    return kind, tuple((field, _reader(fields[name], hint)) for field, name, hint in named if name in fields)


def _reader(field: Any, hint: Any) -> Callable[[Any], Any]:
    """Return a function that reads a field of a message as the engine's type."""
    name = field.name
    if NoneType in get_args(hint):
        return lambda message: getattr(message, name) if message.HasField(name) else None
    kind = get_origin(hint) or hint
    if field.message_type is not None:  # A map by seat.
        return lambda message: kind(getattr(message, name).get(seat, -1) + 1 for seat in range(message.seats))
    return lambda message: kind(getattr(message, name))
