"""The options of `run`, `play` and `connect` besides the bot and the address."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

from arena_client.errors import ArgumentError

Tls: TypeAlias = bool | str | Path | None
"""False or None: no TLS. True: the system's certificate authorities. A path: the authorities in that PEM file."""
OnError: TypeAlias = Literal["raise", "continue"]
"""Effect of an exception in the bot: end the run, or log it and play the first legal action."""

DEFAULT_ADDRESS = "localhost:50051"
"""The default address of a server."""
DRAIN = 30.0
"""Maximum time in seconds to finish matches after Ctrl-C, unless ARENA_DRAIN sets another time."""
DRAIN_TERMINATED = 8.0
"""Maximum time in seconds to finish matches after SIGTERM; SIGKILL usually follows after 10 s."""


class Options(TypedDict, total=False):
    """Keyword arguments of `run`, `play` and `connect`; each may be omitted."""

    token: str | None
    """The token itself."""
    token_file: str | Path | None
    """The token file; by default ARENA_TOKEN_FILE, or a separate file for each bot in `~/.arena/tokens`."""
    invitation: str | None
    """The invitation to a server that registers bots by invitation only."""
    owner: str | None
    """Owner of the bot, which overrides `Bot.owner`; by default ARENA_OWNER."""
    tls: Tls
    matches: int | None
    """Number of matches with a result after which the run ends; None for no limit."""
    on_error: OnError
    give_up_after: float | None
    """Seconds without any connection after which the run ends."""
    receipts: bool
    """True to store receipts from the server's log."""
    casual: bool
    """True to play unrated matches with house bots only."""
    challenges: bool | Iterable[str]
    """True to accept challenges, or the names of the bots whose challenges are accepted."""
    ladders: Iterable[str] | None
    """Names of the ladders to play on. Defaults to ARENA_LADDERS. If that is unset, or if the list is empty, the
    default ladders of the bot's games.
    """
    events: Iterable[str] | None
    """Names of the events to enter. Defaults to ARENA_EVENTS, or to no events."""


def check_names(told: Mapping[str, object], function: str) -> None:
    """Raise Python's own TypeError for an unknown option."""
    for name in told.keys() - Options.__annotations__.keys():
        raise TypeError(
            f"{function}() got an unexpected keyword argument {name!r}; there is {', '.join(Options.__annotations__)}"
        )


def set_in_environment(name: str) -> str | None:
    """Return an environment variable; None if it is unset or empty."""
    return os.environ.get(name) or None


def chosen(given: Iterable[str] | None, variable: str) -> tuple[str, ...]:
    """Return the given names of ladders or events, or for None the names in a variable, separated by commas.

    If ARENA_TOKEN is set, a program started the bot: only the variable counts. Raises: ArgumentError: Got a string.
    """
    if isinstance(given, str):
        argument = variable.removeprefix("ARENA_").lower()
        raise ArgumentError(f"{argument} is {given!r}: it takes a list of names, or None for {variable}")
    if given is not None and not set_in_environment("ARENA_TOKEN"):
        return tuple(given)
    names = (name.strip() for name in os.environ.get(variable, "").split(","))
    return tuple(name for name in names if name)


def drain_seconds() -> float:
    """Return the maximum time in seconds to finish matches after Ctrl-C. Raises: ArgumentError: Invalid ARENA_DRAIN."""
    text = set_in_environment("ARENA_DRAIN")
    if text is None:
        return DRAIN
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= DRAIN:
        raise ArgumentError(f"ARENA_DRAIN is {text!r}: it takes seconds from 0 to {DRAIN:.0f}")
    return seconds
