"""The house bots of a server: some fill tables, and stand-ins play for absent bots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from arena.house import SEARCH_BOTS, HouseBot
from arena.house.random_bot import RandomBot
from arena.replay.header import Header
from arena.server.config import Config
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.store.bots import bots
from arena.store.bots.bots import Bot
from arena.store.ladder.seasons import name_of
from arena.store.store import Store


class CannotBeRestored(Exception):  # noqa: N818 - the match is void, the server is well
    """A match of an earlier server cannot be continued. The message gives the reason."""


class House:
    """The house bots by game, the weakest first."""

    def __init__(
        self,
        house_bots: Mapping[str, Sequence[HouseBot]],
        search_bots: Mapping[str, HouseBot],
        fillers: Mapping[str, list[HousePlayer]],
        searchers: Mapping[str, HousePlayer],
        games: Mapping[str, str] | None = None,
    ) -> None:
        """`games`: the game of each ladder; by default, only the games' default ladders."""
        self._games = {name: name for name in fillers} if games is None else games
        self._bots = house_bots
        self._search_bots = search_bots
        self.fillers = fillers
        """The house bots that fill tables, by ladder. Empty if the settings turn house bots off."""
        self.searchers = searchers
        """The house bots that search, by game. Empty unless the settings enable them."""

    @classmethod
    async def registered(cls, config: Config, store: Store, house_bots: Mapping[str, Sequence[HouseBot]]) -> House:
        """Register the house bots of the games that the server plays.

        Raises: StoreError.
        """
        search_bots = SEARCH_BOTS if config.house_workers else {}  # The server's own thread never searches.
        fillers: dict[str, list[HousePlayer]] = {}
        searchers: dict[str, HousePlayer] = {}
        for ladder in config.ladders:
            game = ladder.game
            wanted = house_bots.get(game.name, ()) if ladder.house else ()
            fillers[ladder.name] = await _registered(store, wanted)
            if wanted and config.house_search and game.name in search_bots:
                (searchers[game.name],) = await _registered(store, [search_bots[game.name]])
        games = {ladder.name: ladder.game.name for ladder in config.ladders}
        return cls(house_bots, search_bots, fillers, searchers, games)

    def take_up(
        self, header: Header, seated: Sequence[Bot], enter: Callable[[int, str, str], BotPlayer]
    ) -> list[Player]:
        """Return the players of a match of an earlier server, by seat.

        Raises: CannotBeRestored: this server does not have the ladder.

        The stand-in replaces house bots that this server does not have. `enter` returns the bot with a given number,
        name and owner.
        """
        game = header.game.name
        if self._games.get(name_of(header.ladder_id)) != game:
            ladder = f" on the ladder {name_of(header.ladder)}" if header.ladder else ""
            raise CannotBeRestored(f"this server does not play {game}{ladder}")
        known, stand_in = {bot.name: bot for bot in self._bots.get(game, ())}, self.stand_in(game)
        if game in self._search_bots:
            known[self._search_bots[game].name] = self._search_bots[game]
        players: list[Player] = []
        for bot in seated:
            if not bot.house:
                players.append(enter(bot.id, bot.name, bot.owner))
            elif bot.name in known:
                players.append(HousePlayer(bot.id, known[bot.name]))
            else:
                players.append(HousePlayer(bot.id, stand_in, plays_for=bot.name))
        return players

    def searches(self, game: str, players: Sequence[Player]) -> bool:
        """Return true if one of the players is the searching house bot. Only the first process has a worker for it."""
        searching = self._search_bots.get(game)
        return any(isinstance(player, HousePlayer) and player.bot is searching for player in players)

    def stand_in(self, game: str, players: Sequence[Player] = ()) -> HouseBot:
        """Return the stand-in, the strongest house bot.

        The stand-in plays for absent bots and for house bots that no longer exist.

        A searching bot stands in only at tables where it plays, since other tables should not wait for it.
        """
        if self.searches(game, players):
            return self._search_bots[game]
        return next(reversed(self._bots.get(game, ())), RandomBot(game))


async def _registered(store: Store, wanted: Sequence[HouseBot]) -> list[HousePlayer]:
    rows = await store.write(partial(bots.ensure_house_bots, names=[bot.name for bot in wanted], at=now_us()))
    return [HousePlayer(row.id, bot) for row, bot in zip(rows, wanted, strict=True)]
