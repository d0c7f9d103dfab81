"""Where bots wait: who is here, who has room for a match, and which tables come next.

Tables are formed at the end of a turn in which somebody came, went or got up, so that who gets up hears of its next
match with the result of the last. It decides nothing about fairness itself; that is `arena.ladder.scheduling`.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING

import trio

from arena.server.contestant import Contestant
from arena.server.lobby import Lobby

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.ladder.scheduling import Chance, Met, Pool, Table
    from arena.ladder.stakes import Stakes
    from arena.server.config import Config, Offer
    from arena.server.messages import Said
    from arena.server.players import HousePlayer, Player
    from arena.server.post import Post
    from arena.server.session import Session


class Hall:
    """The bots of a server and the forming of tables."""

    def __init__(
        self,
        config: Config,
        house: Mapping[str, Sequence[HousePlayer]],
        post: Post,
        watch: Callable[[Hall], None],
    ) -> None:
        """`post` has it form tables at the end of a turn; `watch` is told when its deadline may have moved."""
        self.contestants: dict[int, Contestant] = {}
        """By number; a bot stays until it is gone and its matches are over."""
        self.deadline = math.inf
        """When to look again though nothing changes, in seconds of the server's clock."""
        self.wakes_at = math.inf
        self.alarm = 0
        self._lobbies = {offer.game.name: Lobby(offer, house[offer.game.name], config) for offer in config.offers}
        self._chance: Chance = secrets.SystemRandom()
        self._post = post
        self._watch = watch
        self._seat: Callable[[Offer, Sequence[Player]], None] | None = None
        self._open_from = 0.0

    def contestant(self, bot_id: int, name: str, owner: str) -> Contestant:
        """The bot of that number, as it is known or new."""
        return self.contestants.setdefault(bot_id, Contestant(bot_id, name, owner))

    def sessions(self) -> list[Session]:
        """The bots' current connections."""
        return [contestant.session for contestant in self.contestants.values() if contestant.session is not None]

    def hear(self, contestant: Contestant, said: Said) -> None:
        """Takes a message of a bot."""
        contestant.hear(said)
        if said.capacity is not None:
            self.changed(contestant)

    def changed(self, contestant: Contestant) -> None:
        """A bot came, went, was parked or un-parked, or has more or less room."""
        self._update(contestant)
        self._post.due(self)

    def release(self, contestant: Contestant) -> None:
        """Forgets a bot that is gone and plays nothing, and looks who can play now."""
        if contestant.session is None and not contestant.busy:
            self.contestants.pop(contestant.bot_id, None)
        self.changed(contestant)

    def got_up(self, contestant: Contestant, game: str, met: Met) -> None:
        """A bot has played a match and is about to be released; who had no room begins to wait."""
        if not self._lobbies[game].has_room(contestant):
            contestant.waiting_since[game] = trio.current_time()
        contestant.met = met

    def rated(self, game: str, stakes: Stakes[tuple[int, str]]) -> None:
        """What the ladder has to gain from the matches of each bot, by number and version, as of now."""
        self._lobbies[game].stakes = stakes
        for contestant in self.contestants.values():
            contestant.pending[game] = contestant.busy  # of all games: few bots play several, and it is soon over

    def open(self, seat: Callable[[Offer, Sequence[Player]], None]) -> None:
        """Forms tables from now on; `seat` is to make every player of a table busy at once."""
        self._seat = seat

    def close(self, until: float = math.inf) -> None:
        """Forms no tables before an instant; an earlier closing that lasts longer stands."""
        self._open_from = max(self._open_from, until)

    def ring(self, now: float) -> None:
        """The alarm rings."""
        self.deadline = math.inf
        self._post.due(self)

    def send(self) -> None:
        """Forms all tables that can be formed: their invitations are what it has to send."""
        if self._seat is not None:
            now = trio.current_time()
            self.deadline = self._open_from if now < self._open_from else self._form(now, self._seat)
            self._watch(self)

    def _form(self, now: float, seat: Callable[[Offer, Sequence[Player]], None]) -> float:
        """Forms all tables that can be formed; returns when to look again.

        Which game gets the next table is chance, so that no game takes all the room of bots that play several.
        """
        pools = {lobby: pool for lobby in self._lobbies.values() if (pool := lobby.pool(now, self._chance)) is not None}
        open_lobbies = list(pools)
        while open_lobbies:
            lobby = open_lobbies[int(self._chance.random() * len(open_lobbies)) if len(open_lobbies) > 1 else 0]
            table = self._next(lobby, pools[lobby], now)
            if table is None:
                open_lobbies.remove(lobby)
                continue
            for player in table.bots:
                if isinstance(player, Contestant):
                    player.seated(now, lobby.offer.game.name)
                    for other, pool in pools.items():
                        if other is not lobby:
                            pool.engage(player)
            seat(lobby.offer, table.bots)
            for player in table.bots:
                if isinstance(player, Contestant):
                    self._update(player)
        for lobby, pool in pools.items():
            lobby.formed(pool)
        return min([lobby.due for lobby in self._lobbies.values() if lobby.due > now], default=math.inf)

    def _next(self, lobby: Lobby, pool: Pool[Player], now: float) -> Table[Player] | None:
        """The next table of a game. Its size is chance, but when somebody's patience is over any size will do."""
        sizes = lobby.sizes
        self._chance.shuffle(sizes)
        patient = now < pool.due
        for seats in sizes[:1] if patient else sizes:
            if (table := pool.table(seats)) is not None:
                return table
        return None

    def _update(self, contestant: Contestant) -> None:
        for lobby in self._lobbies.values():
            lobby.update(contestant)
