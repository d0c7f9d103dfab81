"""The bots that are connected or have running matches, by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

import trio

from arena.scheduling.pace import Pace, PaceRules
from arena.server.sessions.availability import Availability
from arena.server.sessions.messages import ListedNode
from arena.server.sessions.player import BotPlayer
from arena.server.sessions.session import Session


class Players:
    """Registry of bots. A bot stays in it until the bot has left and its matches have ended."""

    def __init__(
        self,
        watch: Callable[[Availability], None] = lambda _: None,
        pace_rules: PaceRules = PaceRules(),  # noqa: B008 - frozen
        further: Mapping[str, PaceRules] = MappingProxyType({}),
    ) -> None:
        """`watch` is called when the deadline of a bot's availability may have moved.

        `pace_rules` apply to the default ladders of the games, which share a pace. `further`: the rules of other
        ladders, by name.
        """
        self.pace_rules: Mapping[str, PaceRules] = {"": pace_rules, **further}
        """The rules for slow bots by ladder name (empty: the default ladders)."""
        self._players: dict[int, BotPlayer] = {}
        self._paces: dict[tuple[str, int], Pace] = {}
        self._availability: dict[int, Availability] = {}
        self._watch = watch
        self._on_change: Callable[[BotPlayer], None] = lambda _: None

    def __iter__(self) -> Iterator[BotPlayer]:
        return iter(self._players.values())

    def __len__(self) -> int:
        return len(self._players)

    def on_change(self, tell: Callable[[BotPlayer], None]) -> None:
        """Call `tell` with every bot that connects, leaves, is parked or resumed, or whose free capacity changes."""
        self._on_change = tell

    def list_nodes(self, list_for: Callable[[int], Mapping[int, ListedNode]]) -> None:
        """Send a changed list of nodes to every connected bot. `list_for` returns the list for a bot."""
        for bot_id, player in self._players.items():
            if player.session is not None:
                player.session.list_nodes(list_for(bot_id))

    def get(self, bot_id: int) -> BotPlayer | None:
        """Return the bot with this number, or None if it is not in the registry."""
        return self._players.get(bot_id)

    def enter(self, bot_id: int, name: str, owner: str) -> BotPlayer:
        """Return the bot with this number. Add it if it is not in the registry."""
        if (player := self._players.get(bot_id)) is None:
            player = self._players[bot_id] = BotPlayer(
                bot_id, name, owner, self.changed, self.availability(bot_id), partial(self.pace, bot_id)
            )
        return player

    def pace(self, bot_id: int, ladder: str = "") -> Pace:
        """Return a bot's pace and balance on a ladder (empty: on the default ladders). The bot need not be
        connected.
        """
        if (known := self._paces.get((ladder, bot_id))) is None:
            known = self._paces[ladder, bot_id] = Pace(self.pace_rules[ladder])
        return known

    def paces(self) -> Iterable[tuple[tuple[str, int], Pace]]:
        """Return all paces and balances, by ladder name (empty: the default ladders) and bot number."""
        return self._paces.items()

    def availability(self, bot_id: int) -> Availability:
        """Return a bot's record of invitations since the server started. The bot need not be connected."""
        if (known := self._availability.get(bot_id)) is None:
            known = self._availability[bot_id] = Availability(partial(self._available_again, bot_id), self._watch)
        return known

    def _available_again(self, bot_id: int) -> None:
        """Restart a bot's waiting time, if the bot is in the registry."""
        if (player := self._players.get(bot_id)) is not None:
            player.offers.wait_from(trio.current_time())
            self.changed(player)

    def sessions(self) -> list[Session]:
        """Return the bots' current sessions."""
        return [player.session for player in self if player.session is not None]

    def changed(self, player: BotPlayer) -> None:
        """Notify the matchmaker that a bot has changed."""
        self._on_change(player)

    def release(self, player: BotPlayer) -> None:
        """Forget a bot that has left and has no matches. In any case, notify the matchmaker, because the bot's free
        capacity may have changed.
        """
        if player.session is None and not player.busy:
            self._players.pop(player.bot_id, None)
        self.changed(player)
