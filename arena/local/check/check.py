"""A check of a bot: its question, its requirement, and its remedy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from arena.local.check.stage import Stage

Asking: TypeAlias = "Callable[[Stage], Awaitable[None]]"
"""Function that holds a conversation with the bot.

It raises `FaultError`, `DoubtError` or `NotAskedError` unless the bot behaves correctly.
"""


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    asks: str
    """The question that the check asks, used as its title."""
    wants: str
    """The behaviour that the protocol requires of a bot."""
    remedy: str
    """Advice for the author of a bot that fails the check."""
    page: str
    """The page of the documentation that describes the required behaviour."""
    needs: tuple[str, ...]
    """Names of the checks that this check needs. If one of them failed, this check is skipped."""
    disturbs: bool
    """True if the check itself causes notices. These do not count against the bot."""
    ask: Asking


PLAY: Final = "proto/arena/v1/play.proto"
BOTS: Final = "proto/arena/v1/bots.proto"
PROTOCOL: Final = "docs/protocol.md"
CONDUCT: Final = "docs/conduct.md"
CONNECTED: Final = ("start", "hello")


def check(
    *,
    wants: str,
    remedy: str,
    page: str = PLAY,
    needs: tuple[str, ...] = CONNECTED,
    disturbs: bool = False,
) -> Callable[[Asking], Check]:
    """Create a check from a function of the stage.

    The function's name and docstring become the check's name and question.
    """

    def made(ask: Asking) -> Check:
        name = getattr(ask, "__name__", "").replace("_", "-")
        return Check(name, ask.__doc__ or "", wants, remedy, page, needs, disturbs, ask)

    return made
