"""The queue of one game: the bots connected for it, and those of them with room for a match. It forms no tables."""

from __future__ import annotations

import math
from itertools import cycle, islice
from typing import TYPE_CHECKING

from arena.scheduling.information_gain import MatchValues
from arena.scheduling.pool import Pool, PoolHistory, Waiting, decrement
from arena.server.sessions.player import HousePlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.scheduling.pool import Shuffler
    from arena.server.config import Config, Offer
    from arena.server.sessions.player import BotPlayer, Player


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
        self._on_trial: dict[BotPlayer, str] = {}
        """Bots that wait for a match with house bots, since their last invitation failed."""
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
        here = here and bot_player.availability.invitable  # whoever pauses will not come soon: nobody waits for it
        waits = here and bot_player.room(self._config.matches_per_bot) > 0
        on_trial = waits and bool(self._house) and bot_player.availability.doubtful
        waits = waits and not on_trial
        if on_trial:
            self._on_trial[bot_player] = bot_player.owner
        else:
            self._on_trial.pop(bot_player, None)
        _keep(self._here, self._owners_here, bot_player, here)
        _keep(self._waiting, self._owners_waiting, bot_player, waits)
        if waits:
            self.due = min(self.due, bot_player.waiting_since[self._game] + self._config.patience)

    def on_trial(self) -> Sequence[BotPlayer]:
        """The bots that play their next match with house bots only."""
        return list(self._on_trial)

    def with_house(self, bot_player: BotPlayer, chance: Shuffler) -> Sequence[Player]:
        """A table of a bot and house bots, by seat, of a random size."""
        sizes, fillers = list(self.offer.seats), list(self._house)
        chance.shuffle(sizes)
        chance.shuffle(fillers)
        players: list[Player] = [bot_player, *islice(cycle(fillers), sizes[0] - 1)]
        chance.shuffle(players)
        return players

    def longest_waiting(self, table: Sequence[Player]) -> BotPlayer | None:
        """The bot that has waited longest of those whose owner is not at a table; None if there is none."""
        owners = {player.owner for player in table if not isinstance(player, HousePlayer)}
        waiting = [each for each, owner in self._waiting.items() if owner not in owners]
        return min(waiting, key=lambda each: each.waiting_since[self._game], default=None)

    def filler(self, table: Sequence[Player], chance: Shuffler) -> HousePlayer | None:
        """A house bot for a table, one that does not sit there if possible; None if there are none."""
        fillers = [each for each in self._house if each not in table] or list(self._house)
        chance.shuffle(fillers)
        return fillers[0] if fillers else None

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
