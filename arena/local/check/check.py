"""A check of a bot: its question, its requirement, and its remedy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from arena.local.check.stage import Stage

Asking: TypeAlias = "Callable[[Stage], Awaitable[None]]"
"""Plays the conversation; raises `Fault`, `Doubt` or `NotAsked`, and returns if the bot does as it should."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    asks: str
    """The question, as its title."""
    wants: str
    """The behaviour that is required of a bot."""
    remedy: str
    """Advice for the author of a bot that fails the check."""
    page: str
    """The page that describes it."""
    needs: tuple[str, ...]
    """Checks that this one needs not to have failed."""
    disturbs: bool
    """True if the check itself causes notices that otherwise would be the bot's fault."""
    ask: Asking


PLAY: Final = "proto/arena/v1/play.proto"
BOTS: Final = "proto/arena/v1/bots.proto"
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
    """Make a check of a function of the stage: its name and its docstring are the check's name and question."""

    def made(ask: Asking) -> Check:
        name = getattr(ask, "__name__", "").replace("_", "-")
        return Check(name, ask.__doc__ or "", wants, remedy, page, needs, disturbs, ask)

    return made
