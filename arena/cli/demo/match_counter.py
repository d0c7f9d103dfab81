"""A counter of the matches that a server has begun and finished after a given one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.data_source import LARGEST_PAGE
from arena.store.base.rows import MatchState

if TYPE_CHECKING:
    from arena.queries.source import DataSource
    from arena.store.base.rows import MatchRow


class MatchCounter:
    """A counter of matches; each update reads only those that were not settled at the last one."""

    def __init__(self, source: DataSource, after: int) -> None:
        """Count matches with numbers above `after`."""
        self.begun = 0
        """Matches seen so far, finished or not."""
        self.finished = 0
        self._source = source
        self._settled = after
        """Matches up to this number are over and counted; they are not read again."""
        self._begun = self._finished = 0

    def count(self) -> None:
        """Update `begun` and `finished`."""
        rows = self._unsettled()
        self.begun = self._begun + len(rows)
        self.finished = self._finished + _finished(rows)
        first = min((row.match_id for row in rows if row.state is MatchState.PLAYING), default=None)
        over = [row for row in rows if first is None or row.match_id < first]
        if over:
            self._settled = over[0].match_id
            self._begun += len(over)
            self._finished += _finished(over)

    def _unsettled(self) -> list[MatchRow]:
        """Return the matches that are not settled, newest first."""
        found: list[MatchRow] = []
        while True:
            page = self._source.matches(limit=LARGEST_PAGE, before=found[-1].match_id if found else None)
            new = [row for row in page if row.match_id > self._settled]
            found += new
            if len(new) < LARGEST_PAGE:
                return found


def newest(source: DataSource) -> int:
    """Return the number of the newest match; 0 before the first."""
    return max((row.match_id for row in source.matches(limit=1)), default=0)


def _finished(rows: list[MatchRow]) -> int:
    return sum(row.state is MatchState.FINISHED for row in rows)
