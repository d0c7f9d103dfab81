"""The seats of house bots that search: at so many tables as their share of a core allows, one at each.

What choices cost is known only when they are made. So a seat is given while what was earned is more than what was spent
and what the tables may still cost at which they sit. It is one that another house bot would have had; nobody who plays
a first match or does not play a rated one meets them, and nobody waits longer for a table because of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from arena.server.sessions.player import HousePlayer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.server.sessions.player import Player
    from arena.server.workers.search import SearchWorker

MOST_SAVED: Final = 10.0
"""Seconds of the worker that can be saved up while no table is there: some five matches."""


class Announced(Protocol):
    """A match that has been announced."""

    concluded: Callable[[int | None, str | None], None]
    """Called once it is certain whether it takes place, with its number or why it does not."""


class SearchSeats:
    """Gives seats to house bots that search."""

    def __init__(self, house_search: float, searchers: Mapping[str, HousePlayer], worker: SearchWorker) -> None:
        """`house_search`: seconds of the worker that a second earns; `searchers` by game."""
        self._house_search = house_search
        self._searchers = searchers
        self._worker = worker
        self._earned = 0.0
        self._since: float | None = None
        self._tables: set[Announced] = set()
        """The tables with a searching bot, until the match is over."""
        self._ended = 0

    def taken(self, players: Sequence[Player], game: str, now: float) -> Sequence[Player] | None:
        """Return the players of a rated table with one that searches in a house bot's place; None if none may be."""
        house = [seat for seat, player in enumerate(players) if isinstance(player, HousePlayer)]
        searcher = self._searchers.get(game)
        if searcher is None or not house or any(player.newcomer for player in players):
            return None
        if not self._affords(now) or not self._worker.ready():
            return None
        return [searcher if seat == house[0] else player for seat, player in enumerate(players)]

    def began(self, table: Announced) -> None:
        """Reckon with the match of a table with one of them; it is over with `ended`, or where it is called off."""
        self._tables.add(table)
        table.concluded = partial(self._concluded, table)

    def ended(self, table: Announced) -> None:
        """Record that a match is over; others are ignored."""
        if table in self._tables:
            self._tables.remove(table)
            self._ended += 1

    def _concluded(self, table: Announced, match_id: int | None, failure: str | None) -> None:
        if match_id is None:
            self._tables.discard(table)

    def _affords(self, now: float) -> bool:
        spent = self._worker.spent
        earned = 0.0 if self._since is None else self._house_search * (now - self._since)
        self._since = now
        self._earned = min(self._earned + earned, spent + MOST_SAVED)
        a_match = spent / self._ended if self._ended else MOST_SAVED  # while none has ended, they sit at one table
        return self._earned - spent > a_match * len(self._tables)
