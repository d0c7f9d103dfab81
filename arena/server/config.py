"""What an operator decides about a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from arena.ladder.scheduling import PATIENCE
from arena.match.policy import Policy
from arena.server.limits import Limits
from engine.game import Game, Option

LUCK: Final = frozenset({"nullern"})
"""Games in which the luck column is worth the replays; docs/luck.md has the figures."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One game as a server plays it."""

    game: Game
    seats: tuple[int, ...]
    """Table sizes, all of which the game allows; one is drawn for every match."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """Options that differ from their defaults; the game takes them at every one of these sizes."""


@dataclass(frozen=True, slots=True)
class Config:
    """Durations in seconds; the match policy keeps its own in microseconds."""

    offers: tuple[Offer, ...]
    house: bool = True
    """Whether house bots fill tables."""
    house_workers: int = 1
    """Processes that choose for house bots; 0 for the server's own thread."""
    luck: frozenset[str] = LUCK
    """Games, by name, whose deals the workers play again for the luck column."""
    patience: float = PATIENCE
    """How long a bot waits for other bots before house bots fill its table."""
    policy: Policy = field(default_factory=Policy)
    ready_limit: float = 30.0
    """Time to accept an invitation."""
    capacity: int = 256
    """The most matches one bot plays at once, whatever it announces."""
    heartbeat: float = 10.0
    """Between two heartbeats of a stream."""
    park_after: int = 3
    """Matches in a row in which a bot was suspended or a house bot played on, after which it is given no seats."""
    limits: Limits = field(default_factory=Limits)
    fit_matches: int = 100
    """New results of all games after which the ladders are fitted."""
    fit_seconds: float = 60.0
    """Time after which they are with fewer."""
    fit_rest: float = 9.0
    """For so many times as long as a fit took new results wait, however many they are: fits must not take a core."""
    drain: float = 10.0
    """How long a stopping server lets running matches go on."""

    @property
    def games(self) -> tuple[Game, ...]:
        """The games played."""
        return tuple(offer.game for offer in self.offers)
