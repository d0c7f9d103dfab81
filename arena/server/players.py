"""Who can sit at a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from arena.server.contestant import Contestant

if TYPE_CHECKING:
    from arena.house import HouseBot


@dataclass(frozen=True, slots=True)
class HousePlayer:
    """A house bot under its number in the store."""

    bot_id: int
    bot: HouseBot

    @property
    def name(self) -> str:
        """The bot's name."""
        return self.bot.name

    @property
    def version(self) -> str:
        """The bot's version."""
        return self.bot.version


Player: TypeAlias = Contestant | HousePlayer
