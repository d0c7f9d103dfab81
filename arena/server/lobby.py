"""Who is here to play one game, and who of them has room for a match now. It forms no tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arena.ladder.scheduling import Past, Pool, Waiting, count_off
from arena.ladder.stakes import Stakes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ladder.scheduling import Chance
    from arena.server.config import Config, Offer
    from arena.server.contestant import Contestant
    from arena.server.players import HousePlayer, Player


class Lobby:
    """The bots of one game. What a change costs does not depend on how many there are."""

    def __init__(self, offer: Offer, house: Sequence[HousePlayer], config: Config) -> None:
        self.offer = offer
        self.stakes: Stakes[tuple[int, str]] = Stakes()
        """By bot and version, what the ladder has to gain from its matches."""
        self.due = math.inf
        """No later than the next instant at which tables may be formed though nothing changes."""
        self._game = offer.game.name
        self._house = house
        self._config = config
        self._past = Past()
        self._here: dict[Contestant, str] = {}
        self._waiting: dict[Contestant, str] = {}
        self._owners_here: dict[str, int] = {}
        """How many of their bots are."""
        self._owners_waiting: dict[str, int] = {}

    @property
    def sizes(self) -> list[int]:
        """The table sizes for which enough owners are here, waiting or not."""
        return [size for size in self.offer.seats if self._house or size <= len(self._owners_here)]

    def has_room(self, contestant: Contestant) -> bool:
        """Whether a bot waits here for a match."""
        return contestant in self._waiting

    def update(self, contestant: Contestant) -> None:
        """A bot came, went or has more or less room."""
        session = contestant.session
        here = session is not None and not contestant.parked and self._game in session.hello.games
        waits = here and contestant.room(self._config.capacity) > 0
        _keep(self._here, self._owners_here, contestant, here)
        _keep(self._waiting, self._owners_waiting, contestant, waits)
        if waits:
            self.due = min(self.due, contestant.waiting_since[self._game] + self._config.patience)

    def pool(self, now: float, chance: Chance) -> Pool[Player] | None:
        """Those who wait, from whom tables may be taken; None while too few of them do for any."""
        owners, ready = len(self._owners_here), len(self._owners_waiting)
        if not ready:
            return None
        if self._house:
            fewest = min(self.offer.seats) - 1  # one seat may be the house's
            if ready < min(fewest, owners) and now < self.due:
                return None
        elif ready < min(self.offer.seats):
            return None
        waiting: list[Waiting[Player]] = [
            Waiting(
                contestant,
                owner,
                contestant.waiting_since[self._game],
                contestant.room(self._config.capacity),
                self.stakes.of((contestant.bot_id, contestant.version)),
                contestant.pending[self._game],
                contestant.met,
            )
            for contestant, owner in self._waiting.items()
        ]
        return Pool(waiting, owners, self._house, now, chance, self._config.patience, self._past)

    def formed(self, pool: Pool[Player]) -> None:
        """Tables were taken from its pool until there were no more."""
        self._past, self.due = pool.past, pool.due


def _keep(bots: dict[Contestant, str], owners: dict[str, int], bot: Contestant, there: bool) -> None:
    """Adds a bot or removes it, and counts its owner's."""
    if there == (bot in bots):
        return
    if there:
        bots[bot] = bot.owner
        owners[bot.owner] = owners.get(bot.owner, 0) + 1
    else:
        count_off(owners, bots.pop(bot))
