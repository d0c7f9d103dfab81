"""The progress of a running demo and the summary after it.

In a terminal, the progress is a count of matches, a bar and the ladder. In a pipe, it is a few lines. The summary has
the ladder, the last trick, the verification of a replay, and commands to try next.
"""

from __future__ import annotations

import shutil
import sys
import time
from itertools import takewhile
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arena.analysis.verdict import prove, verified
from arena.cli.data_source import DataPlace
from arena.cli.ladder.table import ladder_table
from arena.cli.replay.source import finished
from arena.cli.replay.verbs import drawn_verdict
from arena.queries.directory import open_directory
from arena.queries.source import DataSource
from arena.replay.read import read
from arena.replay.render.show import part_name, show_part
from arena.replay.steps import Course
from arena.store.base.rows import LadderRows, MatchRow, MatchState
from arena.store.ladder.rebuild import rebuild
from arena.store.opening import open_to_amend

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
        """Show the state after `passed` seconds. `matches` is the number of finished matches."""
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
    """Counter of matches. Each update reads only matches that were not over at the last update."""

    def __init__(self, source: DataSource, after: int) -> None:
        """Count the matches with numbers above `after`."""
        self.begun = 0
        """Number of matches seen so far, finished or not."""
        self.finished = 0
        self._source = source
        self._settled = after
        """Matches up to this number are over and counted, and are not read again."""
        self._begun = self._finished = 0

    def count(self) -> None:
        """Update `begun` and `finished`."""
        rows = [*takewhile(lambda row: row.match_id > self._settled, self._source.all_matches())]
        self.begun = self._begun + len(rows)
        self.finished = self._finished + _finished(rows)
        first = min((row.match_id for row in rows if row.state is MatchState.PLAYING), default=None)
        over = [row for row in rows if first is None or row.match_id < first]
        if over:
            self._settled = over[0].match_id
            self._begun += len(over)
            self._finished += _finished(over)


def newest(source: DataSource) -> int:
    """Return the number of the newest match, or 0 before the first match."""
    return max((row.match_id for row in source.matches(limit=1)), default=0)


def _finished(rows: list[MatchRow]) -> int:
    return sum(row.state is MatchState.FINISHED for row in rows)


def look_back(console: Console, data: Path, game: str, before: int) -> None:
    """Show the matches after number `before` in a data directory that no server uses any more.

    Fit the ladder first, because the server may not have had time to do so.

    Raises:
        StoreError: the directory cannot be read.
        ReplayError: a replay is damaged.
    """
    with open_to_amend(data) as connection:
        rebuild(connection, game, time.time_ns() // 1000)
    with open_directory(data) as source:
        counter = MatchCounter(source, before)
        counter.count()
        console.print(f"{counter.finished} matches finished. The server and the bots have ended.\n")
        if not counter.finished:
            return
        console.print(ladder_table(source.ladder(game)), "")
        latest = finished(source, game, "", 1)[0].match_id
        replay = read(source.replay(latest), f"match {latest}")
        proofs = prove(replay, None, source)
    course = Course(replay)
    title = f"The last {part_name(course)} of match {latest}"
    console.print(Rule(title, style="dim"), "", show_part(course), "", sep="\n")
    console.print(drawn_verdict(replay, verified(replay), proofs), soft_wrap=True)
    console.print()
    console.print(Rule("Try next", style="dim"))
    console.print(_next_steps(latest, DataPlace(data=data)), soft_wrap=True)


def _next_steps(match_id: int, place: DataPlace) -> Text:
    """Return commands to copy, each with a comment."""
    arena = _program()
    steps = {
        "step through that match with keys": f"{arena} replay show {match_id}{place.typed}",
        "what was played": f"{arena} matches{place.typed}",
        "check a replay, line by line": f"{arena} replay verify {match_id}{place.typed}",
        "keep a server running here": f"{arena} serve{place.typed}",
        "and, in another terminal, a bot": f"{_shown(sys.executable)} -m arena_client.samples.counter_bot --name mine",
    }
    lines = [Text.assemble("  ", (f"# {what}\n", "dim"), "  ", (how, "bold cyan")) for what, how in steps.items()]
    return Text("\n").join(lines)


def _program() -> str:
    """Return the command line that starts this program from the current directory."""
    program = Path(sys.argv[0])
    if program.suffix == ".py":
        return f"{_shown(sys.executable)} -m arena.cli"
    known = shutil.which(program.name)
    return program.name if known is not None and Path(known).samefile(program) else _shown(program)


def _shown(path: str | Path) -> str:
    """Return a path as a user in the current directory types it."""
    path = Path(path)
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
