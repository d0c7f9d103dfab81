"""Conversion of views for the server's own rules, for bots that search: `GAMES[...].sample(seat_view(view), rng)`.

The rules are the package `engine`, the distribution arena-engine in the Arena's repository, which has no dependencies.
Only bots that import this module need it. A sampled game is a guess that fits the view, never the real game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from arena_client.decision import View
from arena_client.errors import ArenaError
from arena_client.v1 import play_pb2

if TYPE_CHECKING:
    from engine.game import SeatView


_RENAMED = {"hand_size": "cards_each"}
"""Fields of the engine's views that have a different name in messages, with this name."""


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
    message_kind: Any = type(message)  # mypy believes that it is not hashable.
    kind, fields = _kind(message_kind)
    return kind(**{name: convert(message) for name, convert in fields})


@cache
def _kind(message: type[View]) -> tuple[type[SeatView], tuple[tuple[str, Callable[[Any], Any]], ...]]:
    """Return the engine's view class for a type of message, and a reader for each of its fields."""
    try:
        from engine.deal import KEY_BYTES, SeededDecks
        from engine.registry import GAMES
    except ModuleNotFoundError as error:
        raise EngineMissingError(MISSING) from error
    views = play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"].fields
    package, _, _ = message.DESCRIPTOR.full_name.partition(".")  # of a game without a field, as in leduc.v1.View
    name = next((field.name for field in views if field.message_type is message.DESCRIPTOR), package)
    if name not in GAMES:
        raise EngineMissingError(
            f"the rules that are installed have no game {name!r}; they have {', '.join(GAMES)}: install newer ones"
        )
    kind = type(GAMES[name].new(GAMES[name].seats.start, SeededDecks(bytes(KEY_BYTES))).view(0))
    fields = {each.name: each for each in message.DESCRIPTOR.fields}
    hints = get_type_hints(kind).items()
    return kind, tuple((field, _reader(fields[_RENAMED.get(field, field)], hint)) for field, hint in hints)


def _reader(field: Any, hint: Any) -> Callable[[Any], Any]:
    """Return a function that reads a field of a message as the engine's type."""
    name = field.name
    if NoneType in get_args(hint):
        return lambda message: getattr(message, name) if message.HasField(name) else None
    kind = get_origin(hint) or hint
    if field.message_type is not None:  # A map by seat.
        return lambda message: kind(getattr(message, name).get(seat, -1) + 1 for seat in range(message.seats))
    return lambda message: kind(getattr(message, name))
