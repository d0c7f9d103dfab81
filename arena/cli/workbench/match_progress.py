"""Progress of a match on this machine: a bar in a terminal, occasional lines in a pipe."""

from __future__ import annotations

import time
from math import ceil, inf, sqrt
from statistics import fmean, stdev
from types import TracebackType
from typing import TYPE_CHECKING, Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from arena.local.match.comparison import within
from arena.local.match.sequential import bound

if TYPE_CHECKING:
    from rich.console import Console

    from arena.local.match.ordered_sets import OrderedPairs
    from arena.local.match.thinking import SlowBot

EVERY: Final = 10.0
"""Seconds between two lines in a pipe."""


class MatchProgress:
    """Shows the progress of a match and its result so far on a console."""

    def __init__(self, console: Console, ordered: OrderedPairs) -> None:
        self._console = console
        self._ordered = ordered
        self._next_line = time.monotonic() + EVERY
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (
                TextColumn("sets"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, TextColumn("{task.description}"), console=console, transient=True)
            self._task = self._bar.add_task("", total=None if ordered.test else ordered.most)

    def __enter__(self) -> MatchProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self) -> None:
        """Show the current state."""
        sets, left = self._ordered.sets, self._ordered.sets_left
        total = None if left == inf else sets + ceil(left)
        if self._bar is not None:
            self._bar.update(self._task, completed=sets, total=total, description=self._said())
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + EVERY
            about = "" if self._ordered.test is None or total == self._ordered.most else "about "
            of = f"at most {self._ordered.most}" if total is None else f"{about}{total}"
            self._console.print(f"{sets} of {of} sets  {self._said()}", soft_wrap=True)

    def name_slow(self, slow: SlowBot) -> None:
        """Report that a bot has been thinking for long."""
        self._console.print(f"{slow}", style="yellow", markup=False, soft_wrap=True)

    def _said(self) -> str:
        pairs = self._ordered.pairs
        if len(pairs) > 1:
            decided = sum(each.enough for each in pairs)
            return f"{decided} of {len(pairs)} pairs done" if decided else f"{len(pairs)} pairs"
        scores, state, test = pairs[0].scores, pairs[0].state, pairs[0].test
        if len(scores) < 2:
            return ""
        error = stdev(scores) / sqrt(len(scores))
        said = f"{fmean(scores):+.2f} ± {error * within(len(scores)):.2f} points"
        if state is not None and test is not None:
            said += f"  LLR {state.ratio:+.2f} of ±{bound():.2f}"
        return said
