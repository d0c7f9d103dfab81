"""The queue of one game: the pool of the bots connected for it, kept in step with what the server knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.scheduling.information_gain import MatchValues
from arena.scheduling.pool import Pool, Waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.scheduling.pool import Shuffler
    from arena.server.config import Config, Offer
    from arena.server.sessions.player import BotPlayer, HousePlayer, Player


class Queue:
    """The bots of one game."""

    def __init__(self, offer: Offer, house: Sequence[HousePlayer], config: Config, chance: Shuffler) -> None:
        self.offer = offer
        self.match_values: MatchValues[tuple[int, str]] = MatchValues()
        """By bot and version, what the ladder gains from its next match."""
        self.pool: Pool[Player] = Pool(house, chance, config.patience)
        self._game = offer.game.name
        self._house = house
        self._matches_per_bot = config.matches_per_bot

    @property
    def sizes(self) -> list[int]:
        """The table sizes for which enough owners are here, waiting or not."""
        return [size for size in self.offer.seats if self._house or size <= self.pool.owners]

    def update(self, bot_player: BotPlayer) -> None:
        """Take over what is different about a bot: connected, gone, parked, more or less room."""
        session = bot_player.session
        if session is None or bot_player.parked or self._game not in session.hello.games:
            self.pool.remove(bot_player)
            return
        self.pool.update(
            Waiting(
                bot_player,
                bot_player.owner,
                bot_player.waiting_since[self._game],
                bot_player.room(self._matches_per_bot),
                self.match_values.of((bot_player.bot_id, bot_player.version)),
                bot_player.pending[self._game],
                bot_player.last_match,
            )
        )
