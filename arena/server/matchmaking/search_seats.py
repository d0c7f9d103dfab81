"""Seats for the house bots that search: at most one per table, limited by a share of a processor core.

The cost of a search is known only afterwards. So a searching bot gets a seat only while the earned time is sufficient:
it must cover the time already spent and the expected cost of running tables. The searching bot replaces another house
bot. It never sits in a bot's first match or in an unrated match, and nobody waits longer because of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from arena.server.matches.ready_check import ReadyCheck
from arena.server.sessions.player import HousePlayer, Player
from arena.server.workers.search import SearchWorker

MOST_SAVED: Final = 10.0
"""Maximum number of worker seconds saved up while no table needs them, enough for about five matches."""


class SearchSeats:
    """Assignment of seats to house bots that search."""

    def __init__(self, house_search: float, searchers: Mapping[str, HousePlayer], worker: SearchWorker) -> None:
        """`house_search`: the worker seconds earned per second; `searchers`: the searching house bots by game."""
        self._house_search = house_search
        self._searchers = searchers
        self._worker = worker
        self._earned = 0.0
        self._since: float | None = None
        self._tables: set[ReadyCheck] = set()
        """The running or announced tables with a searching bot."""
        self._ended = 0

    def taken(self, players: Sequence[Player], game: str, now: float) -> Sequence[Player] | None:
        """Return the players of a rated table, with one house bot replaced by a searching bot.

        Return None if the earned time is not enough.
        """
        house = [seat for seat, player in enumerate(players) if isinstance(player, HousePlayer)]
        searcher = self._searchers.get(game)
        if searcher is None or not house or any(player.newcomer for player in players):
            return None
        if not self._affords(now) or not self._worker.ready():
            return None
        return [searcher if seat == house[0] else player for seat, player in enumerate(players)]

    def began(self, table: ReadyCheck) -> None:
        """Count a table with a searching bot until `ended` is called or the match is called off."""
        self._tables.add(table)
        table.concluded = partial(self._concluded, table)

    def ended(self, table: ReadyCheck) -> None:
        """Record that a match has ended. Matches without a searching bot are ignored."""
        if table in self._tables:
            self._tables.remove(table)
            self._ended += 1

    def _concluded(self, table: ReadyCheck, match_id: int | None, failure: str | None) -> None:
        if match_id is None:
            self._tables.discard(table)

    def _affords(self, now: float) -> bool:
        spent = self._worker.spent
        earned = 0.0 if self._since is None else self._house_search * (now - self._since)
        self._since = now
        self._earned = min(self._earned + earned, spent + MOST_SAVED)
        # Until the first match has ended, only one table has a searching bot.
        a_match = spent / self._ended if self._ended else MOST_SAVED
        return self._earned - spent > a_match * len(self._tables)
