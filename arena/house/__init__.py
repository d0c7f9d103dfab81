"""The house bots: a decision from a view. They fill tables and hold the ladder in place; they draw no chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from arena.house import nullern, sixth_sense
from arena.house.random_bot import RandomBot
from engine.game import SeatView


class HouseBot(Protocol):
    """A bot of the server's own. Frozen: a better one is another one, under another name."""

    @property
    def name(self) -> str:
        """Its name, "house-…"."""

    @property
    def version(self) -> str:
        """What decides its choices, in short: `arena.house.content.version`."""

    @property
    def game(self) -> str:
        """The game it plays, by name."""

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """One of the legal actions; the same for the same arguments. `chance` is 32 bytes to draw from."""


def title(bot: HouseBot) -> str:
    """Name and version: a bot with another title chooses otherwise."""
    return f"{bot.name} {bot.version}"


HOUSE_BOTS: Final[Mapping[str, tuple[HouseBot, ...]]] = MappingProxyType(
    {
        "nullern": (RandomBot("nullern"), nullern.CarefulBot(), nullern.CounterBot()),
        "sixth_sense": (
            RandomBot("sixth_sense"),
            sixth_sense.CarefulBot(),
            sixth_sense.CounterBot(),
            sixth_sense.PlannerBot(),
        ),
    }
)
"""By game, the weakest first."""

THINKERS: Final[tuple[HouseBot, ...]] = tuple(
    bot for bots in HOUSE_BOTS.values() for bot in bots if not isinstance(bot, RandomBot)
)
"""The bots that think, here or in another process."""
