"""The way from a decision to the server's own rules, for bots that search: `GAMES[...].sample(seat_view(view), rng)`.

The rules are the package `engine`, which comes with the Arena and needs nothing else; this package does without it, and
only bots that import this module need it. What they sample is a guess that fits the view, never the real game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from arena_client.decision import View
from arena_client.errors import ArenaError

if TYPE_CHECKING:
    from engine.game import SeatView


class EngineMissingError(ArenaError):
    """The package `engine` is not installed."""


def seat_view(message: View) -> SeatView:
    """The view of a decision as the engine's `SeatView`: the fields have the same names.

    Raises `EngineMissingError` where the rules are not installed.
    """
    kind, fields = _kinds()[type(message).__name__]
    return kind(**{name: convert(message, name) for name, convert in fields})


@cache
def _kinds() -> dict[str, tuple[type[SeatView], tuple[tuple[str, Callable[[Any, str], Any]], ...]]]:
    """The engine's views by name, and how a message gives each of their fields."""
    try:
        from engine.nullern import NullernView
        from engine.sixth_sense import SixthSenseView
    except ModuleNotFoundError as error:
        raise EngineMissingError(
            "the rules of the games are not installed: run pip install . in a checkout of the Arena"
        ) from error
    return {
        kind.__name__: (kind, tuple((name, _reader(hint)) for name, hint in get_type_hints(kind).items()))
        for kind in (SixthSenseView, NullernView)
    }


def _reader(hint: Any) -> Callable[[Any, str], Any]:
    """Reads a field of a message as what the engine has there."""
    if NoneType in get_args(hint):
        return lambda message, name: getattr(message, name) if message.HasField(name) else None
    kind = get_origin(hint) or hint
    return lambda message, name: kind(getattr(message, name))
