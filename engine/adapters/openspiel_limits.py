"""Errors in place of crashes: OpenSpiel's C++ searches crash the process for games written in Python.

These searches (`pyspiel.MCTSBot`, `pyspiel.ISMCTSBot`) release Python's lock and then call the state, a Python object.
That is a segmentation fault, even with the library's own `python_kuhn_poker` (seen in 2.0.2). Nor do they find a Python
state's method `resample_from_infostate`. Importing this module makes their methods raise an error first. The same
searches in `open_spiel.python.algorithms` work.
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
"""For each bot class, its methods that take a state."""


class CompiledSearchError(TypeError):
    """Error for a C++ search that is given a state of a game written in Python."""


def refuse(method: Callable[..., Any], bot: str, of: type) -> Callable[..., Any]:
    """Wrap a bot's method so that it raises `CompiledSearchError` for states of type `of`."""

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
    """Make every method in `REFUSED` raise the error for states of type `of`."""
    for bot, methods in REFUSED.items():
        for name in methods:
            setattr(bot, name, refuse(getattr(bot, name), bot.__name__, of))
