"""Where bots wait: who is here, who has room for a match, and which table comes next.

It decides nothing about fairness itself; that is `arena.ladder.pairing`.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING

import trio

from arena.ladder.pairing import Table, Waiting, next_table
from arena.server.contestant import Contestant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.server.config import Config, Offer
    from arena.server.players import HousePlayer, Player
    from arena.server.session import Session


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

    async def run(self, seat: Callable[[Offer, Sequence[Player]], None]) -> None:
        """Forms tables for ever; `seat` is to make every player of a table busy at once."""
        while True:
            now = trio.current_time()
            wait_until = self._open_from if now < self._open_from else self._form(now, seat)
            with trio.move_on_at(wait_until):
                await self._changed.wait()
            self._changed = trio.Event()

    def _form(self, now: float, seat: Callable[[Offer, Sequence[Player]], None]) -> float:
        """Forms all tables that can be formed; returns when to look again.

        Which game gets the next table is chance, so that no game takes all the room of bots that play several.
        """
        offers = list(self._config.offers)
        look_again = math.inf
        while offers:
            offer = self._chance.choice(offers)
            table, due = self._next(offer, now)
            if table is None:
                offers.remove(offer)
                look_again = min(look_again, due)
                continue
            for player in table.bots:
                if isinstance(player, Contestant):
                    player.waiting_since[offer.game.name] = now
                    player.seated += 1
            seat(offer, table.bots)
        return look_again

    def _next(self, offer: Offer, now: float) -> tuple[Table[Player] | None, float]:
        """The next table of a game, or None and when to look again."""
        game = offer.game.name
        house = self._house[game]
        here = [
            contestant
            for contestant in self.contestants.values()
            if contestant.session is not None and not contestant.parked and game in contestant.session.hello.games
        ]
        owners = len({contestant.owner for contestant in here})
        sizes = [size for size in offer.seats if house or size <= owners]
        if not sizes:
            return None, math.inf
        waiting: list[Waiting[Player]] = [
            Waiting(contestant, contestant.owner, contestant.waiting_since[game], contestant.seated)
            for contestant in here
            if contestant.room(self._config.capacity)
        ]
        patience = self._config.patience
        table = next_table(waiting, owners, house, self._chance.choice(sizes), now, self._chance, patience)
        due = min((guest.since for guest in waiting), default=math.inf) + patience
        return table, due if due > now else math.inf
