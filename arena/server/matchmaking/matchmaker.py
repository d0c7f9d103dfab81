"""The matchmaker: which of the bots that wait in the queues sit down at the next tables.

Tables are formed at the end of a turn in which a bot came, went or finished a match, so that it hears of its next match
with the result of the last. Whom it would be fair to seat, `arena.scheduling.pool` decides.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING, TypeAlias

import trio

from arena.replay.header import MatchKind
from arena.server.matchmaking.queue import Queue
from arena.server.sessions.player import BotPlayer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.scheduling.information_gain import MatchValues
    from arena.scheduling.pool import LastMatch, Shuffler, Table
    from arena.server.config import Config, Offer
    from arena.server.matches.ready_check import ReadyCheck, Replacement
    from arena.server.runtime.turns import Turns
    from arena.server.sessions.player import HousePlayer, Player
    from arena.server.sessions.players import Players


Announce: TypeAlias = "Callable[[Offer, Sequence[Player], MatchKind, Replacement], None]"
"""Called with each table that is formed: its players are busy from then on."""


def _nobody(ready_check: ReadyCheck, at_once: bool) -> None:
    """Replace no bot: a match with house bots only is played by its bot or not at all."""


class Matchmaker:
    """Forms tables from the queues of all games."""

    def __init__(
        self,
        config: Config,
        players: Players,
        fillers: Mapping[str, Sequence[HousePlayer]],
        turns: Turns,
        watch: Callable[[Matchmaker], None],
    ) -> None:
        """`fillers` are the house bots by game; `watch` is told when the deadline may have moved.

        `turns` has it form tables at the end of a turn.
        """
        self.deadline = math.inf
        """When to look again though nothing changes, in seconds of the server's clock."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self._players = players
        self._chance: Shuffler = secrets.SystemRandom()
        self._queues = {
            offer.game.name: Queue(offer, fillers[offer.game.name], config, self._chance) for offer in config.offers
        }
        self._turns = turns
        self._watch = watch
        self._seat: Announce | None = None
        self._open_from = 0.0
        players.on_change(self._changed)

    def match_ended(self, bot_player: BotPlayer, game: str, last_match: LastMatch) -> None:
        """Record that a bot's match ended; start its waiting time if it was at capacity."""
        if not self._queues[game].pool.has_room(bot_player):
            bot_player.waiting_since[game] = trio.current_time()
        bot_player.last_match = last_match

    def rated(self, game: str, match_values: MatchValues[tuple[int, str]]) -> None:
        """Use new values of a game: what the ladder gains from a match of each bot, by number and version."""
        queue = self._queues[game]
        queue.match_values = match_values
        for bot_player in self._players:
            bot_player.pending[game] = bot_player.busy  # of all games: few bots play several, and it is soon over
            queue.update(bot_player)

    def open(self, seat: Announce) -> None:
        """Form tables from now on; `seat` is called with each."""
        self._seat = seat

    def close(self, until: float = math.inf) -> None:
        """Form no tables before an instant of the server's clock; an earlier call with a later instant stands."""
        self._open_from = max(self._open_from, until)

    def on_timer(self, now: float) -> None:
        """Form tables at the end of this turn."""
        self.deadline = math.inf
        self._turns.due(self)

    def send(self) -> None:
        """Form all tables that can be formed; this is called at the end of a turn, like any `Sender`."""
        if self._seat is not None:
            now = trio.current_time()
            self.deadline = self._open_from if now < self._open_from else self._form(now, self._seat)
            self._watch(self)

    def replacement(self, ready_check: ReadyCheck, at_once: bool) -> Player | None:
        """Give a player for a seat that is still open: the bot that waits longest, or a house bot; see `open`."""
        queue, table = self._queues[ready_check.game.name], ready_check.candidates
        if not at_once and (bot_player := queue.longest_waiting(table)) is not None:
            return bot_player
        return queue.filler(table, self._chance)

    def _form(self, now: float, seat: Announce) -> float:
        """Form all tables that can be formed; the instant at which to look again.

        Which game gets the next table is chance, so that no game takes all the room of bots that play several.
        """
        for queue in self._queues.values():
            for bot_player in queue.on_trial():
                players = queue.with_house(bot_player, self._chance)
                self._sit_down(queue, players, MatchKind.CASUAL, now, seat)
        open_queues = list(self._queues.values())
        while open_queues:
            queue = open_queues[int(self._chance.random() * len(open_queues)) if len(open_queues) > 1 else 0]
            table = self._next(queue, now)
            if table is None:
                open_queues.remove(queue)
                continue
            self._sit_down(queue, table.bots, MatchKind.RATED, now, seat)
        return min([due for queue in self._queues.values() if (due := queue.pool.due(now)) > now], default=math.inf)

    def _sit_down(self, queue: Queue, players: Sequence[Player], kind: MatchKind, now: float, seat: Announce) -> None:
        seat(queue.offer, players, kind, self.replacement if kind is MatchKind.RATED else _nobody)
        for player in players:
            if isinstance(player, BotPlayer):
                player.seated(now, queue.offer.game.name)
                self._update(player)

    def _next(self, queue: Queue, now: float) -> Table[Player] | None:
        """The next table of a game, of a random size; of any size once somebody's patience is over."""
        sizes = queue.sizes
        self._chance.shuffle(sizes)
        patient = now < queue.pool.due(now)
        for seats in sizes[:1] if patient else sizes:
            if (table := queue.pool.table(seats, now)) is not None:
                return table
        return None

    def _changed(self, bot_player: BotPlayer) -> None:
        self._update(bot_player)
        self._turns.due(self)

    def _update(self, bot_player: BotPlayer) -> None:
        for queue in self._queues.values():
            queue.update(bot_player)
