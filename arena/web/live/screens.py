"""The TV: which rounds it shows, and for how long."""

from __future__ import annotations

from time import monotonic
from typing import Final

from arena.queries.live import RoundRow
from arena.web.live.feed import LiveFeed, LiveTable

SCREENS: Final = 4
"""Rounds that are shown at once on the TV."""
READING: Final = 8.0
"""Seconds that a round stays on the TV, at least."""


class Screens:
    """The rounds on the TV: the newest ones, each shown long enough to be read, from as many matches as possible."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed
        self._shown: list[tuple[float, LiveTable, RoundRow]] = []
        self._seen = 0

    def rounds(self) -> list[tuple[LiveTable, RoundRow]]:
        """Return the rounds to be shown now."""
        fresh = min(self._feed.seen - self._seen, len(self._feed.newest))
        self._seen = self._feed.seen
        newest_first = list(self._feed.newest)[::-1]
        for table, report in newest_first[:fresh]:
            self._put(table, report, monotonic())
        return [(table, report) for _, table, report in self._shown]

    def _put(self, table: LiveTable, report: RoundRow, now: float) -> None:
        """Show a round in place of one of its match, or of the oldest, unless that has not been read yet."""
        place = next((number for number, each in enumerate(self._shown) if each[1] is table), None)
        if place is None and len(self._shown) < SCREENS:
            self._shown.append((now, table, report))
            return
        if place is None:
            place = min(range(SCREENS), key=lambda number: self._shown[number][0])
        if now - self._shown[place][0] >= READING:
            self._shown[place] = (now, table, report)
