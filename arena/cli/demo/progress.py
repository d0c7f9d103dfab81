"""Progress of a running demo: its matches counted, a bar and the ladder in a terminal, a few lines in a pipe."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.cli.data_source import LARGEST_PAGE
from arena.cli.ladder.table import ladder_table
from arena.store.base.rows import LadderRows, MatchState

if TYPE_CHECKING:
    from arena.queries.source import DataSource
    from arena.store.base.rows import MatchRow

LINES: Final = 5
"""Number of lines printed to a pipe."""


class DemoProgress:
    """The progress of a demo on a console."""

    def __init__(self, console: Console, seconds: float) -> None:
        self._console = console
        self._seconds = seconds
        self._next_line = 0.0
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def __enter__(self) -> DemoProgress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, passed: float, matches: int, ladder: LadderRows) -> None:
        """Show the state after `passed` seconds with this many finished matches."""
        rate = f"{matches / passed:.1f} matches/s" if passed >= 1 else ""
        if self._live is not None:
            self._live.update(self._picture(passed, matches, rate, ladder), refresh=True)
        elif passed >= self._next_line:
            self._next_line += self._seconds / LINES
            ratings = ", ".join(f"{row.bot} {row.rating:.0f}" for row in ladder.standings)
            self._console.print(f"{passed:5.1f} s  {matches:4} matches finished  {rate:>13}  {ratings}", soft_wrap=True)

    def _picture(self, passed: float, matches: int, rate: str, ladder: LadderRows) -> RenderableType:
        line = Table.grid(padding=(0, 2))
        line.add_row(
            ProgressBar(total=self._seconds, completed=min(passed, self._seconds), width=30),
            f"{passed:.0f} of {self._seconds:.0f} s",
            Text.assemble((str(matches), "bold"), " matches finished"),
            Text(rate, style="cyan"),
        )
        if not ladder.standings:
            return Padding(line, (1, 0))
        return Group(Padding(line, (1, 0)), ladder_table(ladder))


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
