"""Errors for calls with which OpenSpiel would crash the process: its C++ searches of a game written in Python.

Its searches in C++ (`pyspiel.MCTSBot`, `pyspiel.ISMCTSBot`) let go of Python's lock and then ask the state, which is an
object of Python: a segmentation fault, with the library's own `python_kuhn_poker` as well (seen in 2.0.2). Nor do they
find `resample_from_infostate` of such a state. Importing this module puts an error in front of their methods. The
searches in `open_spiel.python.algorithms` do the same and work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import pyspiel

REFUSED: Final = {
    pyspiel.MCTSBot: ("step", "mcts_search"),
    pyspiel.ISMCTSBot: ("step", "get_policy", "step_with_policy"),
}
"""Methods with a state as argument, by bot."""


class CompiledSearchError(TypeError):
    """A search in C++ was given a state of a game written in Python."""


def refuse(method: Callable[..., Any], bot: str, of: type) -> Callable[..., Any]:
    """Return a bot's method that raises `CompiledSearchError` for states of a type before it calls the bot."""

    @wraps(method)
    def checked(self: Any, state: Any, *others: Any) -> Any:
        if isinstance(state, of):
            raise CompiledSearchError(
                f"pyspiel.{bot} cannot search a game written in Python: it would end the process. "
                f"Use open_spiel.python.algorithms ({'ismcts.ISMCTSBot' if 'IS' in bot else 'mcts.MCTSBot'})"
            )
        return method(self, state, *others)

    return checked


def install(of: type) -> None:
    """Put the error in front of every method in `REFUSED`, for states of a type."""
    for bot, methods in REFUSED.items():
        for name in methods:
            setattr(bot, name, refuse(getattr(bot, name), bot.__name__, of))
