"""The house's random bot: any legal action of any game is as likely as any other. Everybody should beat it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.house.content import version
from engine.game import SeatView

NAME: Final = "house-random"


@dataclass(frozen=True, slots=True)
class RandomBot:
    """Takes chance as it comes."""

    game: str
    name: str = NAME
    version: str = version(__name__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The action that chance names."""
        return legal[int.from_bytes(chance, "big") % len(legal)]
