"""Where bots wait: who is here, who has room for a match, and which table comes next.

It decides nothing about fairness itself; that is `arena.ladder.pairing`.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING

import trio

from arena.ladder.pairing import Waiting, next_table
from arena.server.contestant import Contestant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.server.config import Config
    from arena.server.players import HousePlayer, Player
    from arena.server.session import Session
    from engine.game import Game


class Hall:
    """The bots of a server and the forming of tables."""

    def __init__(self, config: Config, house: Mapping[str, Sequence[HousePlayer]]) -> None:
        self.contestants: dict[int, Contestant] = {}
        """By number; a bot stays until it is gone and its matches are over."""
        self._config = config
        self._house = house
        self._chance = secrets.SystemRandom()
        self._changed = trio.Event()
        self._open_from = 0.0

    def contestant(self, bot_id: int, name: str, owner: str) -> Contestant:
        """The bot of that number, as it is known or new."""
        return self.contestants.setdefault(bot_id, Contestant(bot_id, name, owner))

    def sessions(self) -> list[Session]:
        """The bots' current connections."""
        return [contestant.session for contestant in self.contestants.values() if contestant.session is not None]

    def changed(self) -> None:
        """Somebody came, went or has room again."""
        self._changed.set()

    def release(self, contestant: Contestant) -> None:
        """Forgets a bot that is gone and plays nothing, and looks who can play now."""
        if contestant.session is None and not contestant.busy:
            self.contestants.pop(contestant.bot_id, None)
        self.changed()

    def close(self, until: float = math.inf) -> None:
        """Forms no tables before an instant; an earlier closing that lasts longer stands."""
        self._open_from = max(self._open_from, until)

    async def run(self, seat: Callable[[Game, Sequence[Player]], None]) -> None:
        """Forms tables for ever; `seat` is to make every player of a table busy at once."""
        while True:
            now = trio.current_time()
            wait_until = self._open_from
            if now >= self._open_from:
                wait_until = min((self._form(game, now, seat) for game in self._config.games), default=math.inf)
            with trio.move_on_at(wait_until):
                await self._changed.wait()
            self._changed = trio.Event()

    def _form(self, game: Game, now: float, seat: Callable[[Game, Sequence[Player]], None]) -> float:
        """Forms all tables that can be formed; returns when to look again."""
        house = self._house[game.name]
        here = [
            contestant
            for contestant in self.contestants.values()
            if contestant.session is not None and game.name in contestant.session.hello.games
        ]
        owners = len({contestant.owner for contestant in here})
        sizes = [size for size in self._config.seats if size in game.seats and (house or size <= owners)]
        while sizes:
            waiting: list[Waiting[Player]] = [
                Waiting(contestant, contestant.owner, contestant.waiting_since, contestant.seated)
                for contestant in here
                if contestant.room(self._config.capacity)
            ]
            table = next_table(
                waiting,
                owners,
                house,
                self._chance.choice(sizes),
                now,
                self._chance,
                self._config.patience,
            )
            if table is None:
                due = min((guest.since for guest in waiting), default=math.inf) + self._config.patience
                return due if due > now else math.inf
            for player in table.bots:
                if isinstance(player, Contestant):
                    player.waiting_since = now
                    player.seated += 1
            seat(game, table.bots)
        return math.inf
