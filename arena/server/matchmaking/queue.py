"""The queue of one game: the bots connected for it, and those of them with room for a match. It forms no tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arena.scheduling.information_gain import MatchValues
from arena.scheduling.pool import Pool, PoolHistory, Waiting, decrement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.scheduling.pool import Shuffler
    from arena.server.config import Config, Offer
    from arena.server.sessions.player import BotPlayer, HousePlayer, Player


class Queue:
    """The bots of one game. The cost of a change does not depend on their number."""

    def __init__(self, offer: Offer, house: Sequence[HousePlayer], config: Config) -> None:
        self.offer = offer
        self.match_values: MatchValues[tuple[int, str]] = MatchValues()
        """By bot and version, what the ladder gains from its next match."""
        self.due = math.inf
        """No later than the next instant at which tables may be formed though nothing changes."""
        self._game = offer.game.name
        self._house = house
        self._config = config
        self._history = PoolHistory()
        self._here: dict[BotPlayer, str] = {}
        self._waiting: dict[BotPlayer, str] = {}
        self._owners_here: dict[str, int] = {}
        """By owner, the number of bots connected."""
        self._owners_waiting: dict[str, int] = {}

    @property
    def sizes(self) -> list[int]:
        """The table sizes for which enough owners are here, waiting or not."""
        return [size for size in self.offer.seats if self._house or size <= len(self._owners_here)]

    def has_room(self, bot_player: BotPlayer) -> bool:
        """Whether a bot waits here for a match."""
        return bot_player in self._waiting

    def update(self, bot_player: BotPlayer) -> None:
        """Take over what is different about a bot: connected, gone, parked, more or less room."""
        session = bot_player.session
        here = session is not None and not bot_player.parked and self._game in session.hello.games
        waits = here and bot_player.room(self._config.matches_per_bot) > 0
        _keep(self._here, self._owners_here, bot_player, here)
        _keep(self._waiting, self._owners_waiting, bot_player, waits)
        if waits:
            self.due = min(self.due, bot_player.waiting_since[self._game] + self._config.patience)

    def pool(self, now: float, chance: Shuffler) -> Pool[Player] | None:
        """The waiting bots as a pool to take tables from; None while too few wait for any table."""
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
                bot_player,
                owner,
                bot_player.waiting_since[self._game],
                bot_player.room(self._config.matches_per_bot),
                self.match_values.of((bot_player.bot_id, bot_player.version)),
                bot_player.pending[self._game],
                bot_player.last_match,
            )
            for bot_player, owner in self._waiting.items()
        ]
        return Pool(waiting, owners, self._house, now, chance, self._config.patience, self._history)

    def formed(self, pool: Pool[Player]) -> None:
        """Take back a pool from which all possible tables were taken."""
        self._history, self.due = pool.history, pool.due


def _keep(bots: dict[BotPlayer, str], owners: dict[str, int], bot: BotPlayer, there: bool) -> None:
    """Add a bot or remove it, and keep its owner's count."""
    if there == (bot in bots):
        return
    if there:
        bots[bot] = bot.owner
        owners[bot.owner] = owners.get(bot.owner, 0) + 1
    else:
        decrement(owners, bots.pop(bot))
