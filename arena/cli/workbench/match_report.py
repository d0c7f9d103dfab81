"""The drawing of a local match: first its progress, then the verdict in words, the figures, both bots, and a plot."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from io import StringIO
from math import ceil, inf, sqrt
from pathlib import Path
from statistics import fmean, stdev
from types import TracebackType
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from arena.analysis.timeline_document import duration
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.plot import Point, plot
from arena.local.match.comparison import Comparison, Measure, OrderedPairs, OrderedSets, within
from arena.local.match.design import Design
from arena.local.match.sequential import LEAST_SETS, ScoreUnit, SequentialOutcome, SequentialTest, bound
from arena.local.match.sets import Subject

if TYPE_CHECKING:
    from arena.local.match.thinking import SlowBot

BRIGHT: Final = [
    (90, 96, 110),
    (255, 107, 107),
    (110, 222, 120),
    (250, 215, 90),
    (98, 160, 255),
    (206, 140, 255),
    (95, 215, 235),
]
THEME: Final = TerminalTheme((18, 20, 26), (222, 226, 232), [*BRIGHT, (222, 226, 232)], [*BRIGHT, (255, 255, 255)])
"""Terminal colours for SVG files, in which card colours look like their names."""
BARS: Final = "▁▂▃▄▅▆▇█"
CLASSES: Final = 24
"""Number of bars of the histogram."""
SURE: Final = 0.975
NAMES: Final = {
    ScoreUnit.T: "t is",
    ScoreUnit.POINTS: "the difference in points is",
    ScoreUnit.ELO: "Elo by places is",
}
QUANTITIES: Final = {
    Design.SAME_SEATS: "points above the mean of the others, in the same seats of the same deals against {field}",
    Design.ONE_TABLE: "points at one table, deals played twice with seats exchanged{beside}",
    Design.INDEPENDENT: "points above the mean of the others, on deals of their own, against {field}",
}
WIDTH: Final = 100
HEIGHT: Final = 18
EVERY: Final = 10.0
"""Seconds between two progress lines in a pipe."""


def draw_svg(file: Path, title: str, picture: RenderableType, width: int) -> None:
    """Draw a picture into an SVG file, as in a terminal with this number of columns. Raises: OSError."""
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
    console.print(picture)
    svg = console.export_svg(title=title, theme=THEME)
    file.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), "utf-8")


def match_report(subject: Subject, comparison: Comparison, ordered: OrderedSets) -> RenderableType:
    """Draw a match with at least one set."""
    one, other = subject.bots[:2]
    title = Text.assemble((f"{one} against {other}", "bold"), (f" · {subject.game} for {subject.seats}", "dim"))
    return Group(
        title,
        _verdict(one, other, comparison, ordered),
        Text(),
        _figures(subject, comparison, ordered),
        _both(subject, comparison),
    )


def _verdict(one: str, other: str, comparison: Comparison, ordered: OrderedSets) -> Text:
    """Summarize the result in one sentence."""
    state, test = ordered.state, ordered.test
    if state is not None and test is not None:
        if state.outcome is SequentialOutcome.BETTER:
            return Text(f"{one} is better: {NAMES[test.unit]} {test.upper:g} rather than {test.lower:g}.", "bold green")
        if state.outcome is SequentialOutcome.NOT_BETTER:
            return Text(
                f"{one} is not better: {NAMES[test.unit]} {test.lower:g} rather than {test.upper:g}.", "bold red"
            )
        return Text(f"Undecided after {state.sets} sets: more would tell.", "bold yellow")
    likely = comparison.likely
    if likely is None or comparison.sets < LEAST_SETS:
        text = f"A verdict takes at least {LEAST_SETS} sets; there are {comparison.sets}."
        return Text(text, "bold yellow")
    if likely >= SURE:
        return Text(f"{one} is better.", "bold green")
    if likely <= 1 - SURE:
        return Text(f"{other} is better.", "bold red")
    return Text("No difference that chance does not explain: more sets would tell.", "bold yellow")


def _figures(subject: Subject, comparison: Comparison, ordered: OrderedSets) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, value in _rows(subject, comparison, ordered):
        grid.add_row(Text(name, "dim"), Text(value))
    return grid


def quantity(subject: Subject) -> str:
    """Describe the quantity that the match measures."""
    field = ", ".join(dict.fromkeys(subject.bots[subject.compared :]))
    return QUANTITIES[subject.design].format(field=field, beside=f", beside {field}" if field else "")


def _rows(subject: Subject, comparison: Comparison, ordered: OrderedSets) -> Iterator[tuple[str, str]]:
    yield "what", quantity(subject)
    difference, interval = comparison.difference, comparison.interval
    bounds = "" if interval is None else f"   95 %: {interval[0]:+.2f} … {interval[1]:+.2f}"
    sets = comparison.sets
    yield "difference", f"{measured(difference, 2, sets)}{bounds}"
    if comparison.normalised is not None:
        yield "normalised Elo", measured(comparison.normalised, 0, sets)
    yield "Elo", "one of them beat all or nobody" if comparison.elo is None else measured(comparison.elo, 0, sets)
    if comparison.likely is not None:
        yield "better with", f"{comparison.likely:.1%} (likelihood of superiority)"
    state, test = ordered.state, ordered.test
    if state is not None and test is not None:
        yield (
            "test",
            f"LLR {state.ratio:+.2f} of ±{bound():.2f}, {in_words(test)}: {state.outcome.value}",
        )
        yield "errors", errors_in_words(test)
        if state.outcome is not SequentialOutcome.UNDECIDED:
            yield (
                "stopped",
                "by the test, which makes intervals and likelihood a little too sure (of 100 about 92 hold, not 95)",
            )
    yield (
        "sets",
        (
            f"{comparison.sets} of 2 games: {comparison.won} won, {comparison.drawn} drawn, {comparison.lost} lost"
            f"   {histogram(ordered.scores)}"
        ),
    )
    if comparison.gain is not None:
        yield "gain", f"worth {measured(comparison.gain, 1, sets, sign='')} times as many games on independent deals"
    yield "seed", str(subject.seed)


def in_words(test: SequentialTest) -> str:
    """Name the two hypotheses of a test."""
    return f"{NAMES[test.unit]} {test.lower:g} or {test.upper:g}"


def errors_in_words(test: SequentialTest) -> str:
    """Describe the errors of a test."""
    return f"some 5 % of verdicts, if the truth is {test.lower:g} or {test.upper:g}; between them the test is a coin"


def measured(measure: Measure, digits: int, sets: int, sign: str = "+") -> str:
    """Format a figure from `sets` sets with the half width of its 95 % interval."""
    error = "" if measure.error is None else f" ± {within(sets) * measure.error:.{digits}f}"
    return f"{measure.value:{sign}.{digits}f}{error}"


def histogram(scores: Sequence[float]) -> str:
    """Draw the distribution of the sets' differences, on an axis that is symmetric about zero."""
    largest = max(map(abs, scores)) or 1.0
    counts = [0] * CLASSES
    for score in scores:
        counts[min(CLASSES - 1, int((score / largest + 1) / 2 * CLASSES))] += 1
    most = max(counts)
    bars = "".join(BARS[min(len(BARS) - 1, count * len(BARS) // most)] if count else " " for count in counts)
    return f"−{largest:.0f} {bars} +{largest:.0f}"


def _both(subject: Subject, comparison: Comparison) -> RenderableType:
    bots = comparison.bots
    columns = [
        TableColumn("Bot", [Text(name) for name in subject.bots[:2]], "left", folds=True, style="bold"),
        TableColumn("Version", [Text(version) for version in subject.versions[:2]], "left", folds=True, style="dim"),
        TableColumn("Points", [Text(measured(bot.points, 1, comparison.sets, "")) for bot in bots]),
        TableColumn("Place", [Text(measured(bot.place, 2, comparison.sets, "")) for bot in bots]),
        TableColumn("Beaten", [Text(f"{bot.beaten:.0%}") for bot in bots]),
        TableColumn("Think", [Text(_milliseconds(bot.think_us)) for bot in bots]),
        TableColumn("Slowest", [Text(_milliseconds(bot.slowest_us)) for bot in bots]),
        TableColumn("By seat", [Text(_by_seat(bot.by_seat)) for bot in bots]),
    ]
    return FittedTable("", columns, ("By seat", "Version", "Slowest", "Think", "Beaten"))


def _milliseconds(microseconds: float) -> str:
    return duration(round(microseconds)) if microseconds >= 1e5 else f"{microseconds / 1000:.3g} ms"


def _by_seat(points: Sequence[float | None]) -> str:
    """Format mean points by seat as differences from their mean."""
    there = [each for each in points if each is not None]
    middle = fmean(there)
    return " ".join("–" if each is None else f"{each - middle:+.1f}" for each in points)


def plot_match(file: Path, subject: Subject, ordered: OrderedPairs) -> None:
    """Draw the course of each pair's result into an SVG file. Raises: OSError."""
    parts: list[RenderableType] = []
    for each in ordered.pairs:
        one, other = each.names
        parts.append(Text(f"{one} against {other}: points, the mean of the sets so far with its 95 % interval", "bold"))
        points = running(each.scores)
        if points:
            parts += [plot(points, WIDTH, HEIGHT, LEAST_SETS), Text()]
        else:
            parts.append(Text(f"{len(each.scores)} sets are too few to draw: it takes {LEAST_SETS}\n", "yellow"))
    draw_svg(file, f"arena match · {subject.game} for {subject.seats}", Group(*parts), WIDTH)


def running(scores: Sequence[float]) -> list[Point]:
    """Return the mean after each set with the half width of its interval, beginning with the first set that has an
    interval.
    """
    points, total, squares = [], 0.0, 0.0
    for count, score in enumerate(scores, start=1):
        total += score
        squares += score * score
        if count >= LEAST_SETS:
            mean = total / count
            variance = max(0.0, squares - total * mean) / (count - 1)
            points.append(Point(mean, within(count) * sqrt(variance / count)))
    return points


class MatchProgress:
    """Display of a match's progress and of its result so far, on a console."""

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
        """Report a bot that has been thinking for a long time."""
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
