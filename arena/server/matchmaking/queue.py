"""The queue of one game: the pool of the bots connected for it, kept in step with what the server knows of them."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING

from arena.scheduling.information_gain import MatchValues
from arena.scheduling.pool import Pool, Waiting
from arena.server.sessions.player import HousePlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.scheduling.pool import Shuffler
    from arena.server.config import Config, Offer
    from arena.server.sessions.player import BotPlayer, Player


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
        self._waiting: set[BotPlayer] = set()
        """Bots that may be given a seat at any table."""
        self._on_trial: dict[BotPlayer, None] = {}
        """Bots that wait for a match with house bots, since their last invitation failed."""

    @property
    def sizes(self) -> list[int]:
        """The table sizes for which enough owners are here, waiting or not."""
        return [size for size in self.offer.seats if self._house or size <= self.pool.owners]

    def update(self, bot_player: BotPlayer) -> None:
        """Take over what is different about a bot: connected, gone, parked, more or less room."""
        session = bot_player.session
        here = session is not None and not bot_player.parked and self._game in session.hello.games
        here = here and bot_player.availability.invitable  # whoever pauses will not come soon: nobody waits for it
        room = bot_player.room(self._matches_per_bot) if here else 0
        on_trial = room > 0 and bool(self._house) and bot_player.availability.doubtful
        if on_trial:
            self._on_trial[bot_player] = None
        else:
            self._on_trial.pop(bot_player, None)
        if room > 0 and not on_trial:
            self._waiting.add(bot_player)
        else:
            self._waiting.discard(bot_player)
        if on_trial or not here:
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
        waiting = [each for each in self._waiting if each.owner not in owners]
        return min(waiting, key=lambda each: each.waiting_since[self._game], default=None)

    def filler(self, table: Sequence[Player], chance: Shuffler) -> HousePlayer | None:
        """A house bot for a table, one that does not sit there if possible; None if there are none."""
        fillers = [each for each in self._house if each not in table] or list(self._house)
        chance.shuffle(fillers)
        return fillers[0] if fillers else None
