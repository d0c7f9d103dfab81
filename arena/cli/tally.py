"""How many matches a server has finished since somebody began to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.source import LARGEST_PAGE
from arena.wire.rows import MatchState

if TYPE_CHECKING:
    from arena.cli.source import Source
    from arena.wire.rows import MatchRow


class Tally:
    """A count of matches, kept up by looking at those that were not over at the last look."""

    def __init__(self, source: Source, after: int) -> None:
        """Counts matches with a higher number than `after`."""
        self.begun = 0
        """Matches seen so far, finished or not."""
        self.finished = 0
        self._source = source
        self._settled = after
        """All matches up to this number are counted for good."""
        self._begun = self._finished = 0

    def count(self) -> None:
        """Looks again."""
        rows = self._since()
        self.begun = self._begun + len(rows)
        self.finished = self._finished + _finished(rows)
        first = min((row.match for row in rows if row.state is MatchState.PLAYING), default=None)
        over = [row for row in rows if first is None or row.match < first]
        if over:
            self._settled = over[0].match
            self._begun += len(over)
            self._finished += _finished(over)

    def _since(self) -> list[MatchRow]:
        """The matches that are not counted for good, newest first."""
        found: list[MatchRow] = []
        while True:
            page = self._source.matches(limit=LARGEST_PAGE, before=found[-1].match if found else 0)
            new = [row for row in page if row.match > self._settled]
            found += new
            if len(new) < LARGEST_PAGE:
                return found


def newest(source: Source) -> int:
    """The number of the newest match; 0 before the first."""
    return max((row.match for row in source.matches(limit=1)), default=0)


def _finished(rows: list[MatchRow]) -> int:
    return sum(row.state is MatchState.FINISHED for row in rows)
