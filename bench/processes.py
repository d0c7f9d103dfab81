"""Total cost of a decision on a server of several processes, relative to a server of one process.

    python -m bench.processes [--processes 2] [--case 8x16 …] [--repetitions 5] [--compiled] [--json]

Both take turns under the same load: bots that answer at random, in Go if it is installed. The bar applies to the
processor time of all processes. Bots are assigned to processes as they connect, and a match is played in the process of
most of its bots. So with two processes and two-seat tables a quarter of the decisions cross from one to the other.

The third run of each turn is a control: the same number of independent one-process servers, each with its share of the
bots, run at the same time on one core. It shows what sharing a core costs, without traffic between the processes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from bench._compiled import option
from bench._limit import limit
from bench._server import TABLES, Play, play, serving

MOST: Final = 1.15
"""Maximum total cost of a decision on several processes, divided by its cost on one, with the compiled build."""
MANY_BOTS: Final = ("--registrations-per-address", "1000")
CASES: Final = {"8x16": (8, 16), "32x8": (32, 8), "200x1": (200, 1)}
"""Number of bots and of matches that each plays at once, by name of the case."""


def measure(processes: int, bots: int, capacity: int, seconds: float, warm_up: float, compiled: bool, go: bool) -> Play:
    """Measure one server under the given load."""
    options = (*TABLES, "--no-house", *MANY_BOTS, "--processes", str(processes))
    with tempfile.TemporaryDirectory() as data, serving(Path(data), *options, compiled=compiled) as (process, address):
        return play(address, process.pid, bots, capacity, seconds, warm_up, go=go)


class Turn(NamedTuple):
    """Measurements of the same load, made one after the other."""

    one: Play
    """Play on a server of one process."""
    several: Play
    """Play on a server of several processes."""
    apart: list[Play]
    """Play on several independent servers of one process each."""

    def ratio(self) -> float:
        """Return the cost of a decision on several processes, divided by its cost on one process."""
        return whole(self.several) / whole(self.one)

    def control(self) -> float:
        """Return the cost of a decision on the independent servers, divided by its cost on one process."""
        decisions = sum(each.per_second for each in self.apart)
        return sum(whole(each) * each.per_second for each in self.apart) / decisions / whole(self.one)


def whole(turn: Play) -> float:
    """Return the processor time of all processes of a server per decision, in microseconds."""
    return turn.server_cpu_us + turn.helpers_cpu_us


def spread(figures: Sequence[float], digits: int = 2) -> str:
    """Format the median and the range."""
    return f"{median(figures):.{digits}f} ({min(figures):.{digits}f} – {max(figures):.{digits}f})"


@click.command(help=f"Processor time of a decision with several processes over that with one; at most {MOST}.")
@click.option("--processes", type=click.IntRange(min=2), default=2, show_default=True)
@click.option("--case", "cases", type=click.Choice([*CASES]), multiple=True, help="What to measure; repeatable.")
@click.option("--seconds", type=float, default=4.0, show_default=True, help="Length of one run.")
@click.option("--warm-up", type=float, default=6.0, show_default=True, help="Seconds of play before it.")
@click.option("--repetitions", type=int, default=5, show_default=True)
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    processes: int,
    cases: tuple[str, ...],
    seconds: float,
    warm_up: float,
    repetitions: int,
    compiled: bool,
    as_json: bool,
) -> None:
    """Measure, and exit with 1 if the bar is missed with the compiled build."""
    go = limit() is not None
    turns: dict[str, list[Turn]] = {name: [] for name in cases or CASES}
    for _ in range(repetitions):
        for name, own in turns.items():
            one, several = (measure(each, *CASES[name], seconds, warm_up, compiled, go) for each in (1, processes))
            bots, capacity = CASES[name]
            share = [(1, max(2, bots // processes), capacity, seconds, warm_up, compiled, go)] * processes
            with ThreadPoolExecutor(processes) as at_once:
                own.append(Turn(one, several, [*at_once.map(lambda each: measure(*each), share)]))
    ratios = {name: [each.ratio() for each in own] for name, own in turns.items()}
    if as_json:
        figures = {
            name: [
                {"one": one._asdict(), "several": several._asdict(), "apart": [each._asdict() for each in apart]}
                for one, several, apart in own
            ]
            for name, own in turns.items()
        }
        controls = {name: [each.control() for each in own] for name, own in turns.items()}
        found = {"processes": processes, "ratios": ratios, "controls": controls, "turns": figures}
        click.echo(json.dumps(found, indent=2))
    else:
        how = "compiled" if compiled else "nothing compiled"
        table = Table(title=f"A decision with {processes} processes beside one ({how}): median (range) of the turns")
        for heading in ("bots × matches", "", "a second", "a message", "p50 µs", "p99 µs", "CPU µs, all", "of one"):
            table.add_column(heading, justify="right")
        for name, own in turns.items():
            rows: list[tuple[str, list[Play], str]] = [
                ("1 process", [each.one for each in own], ""),
                (f"{processes} processes", [each.several for each in own], spread(ratios[name])),
                (
                    f"{processes} servers",
                    [play for each in own for play in each.apart],
                    spread([e.control() for e in own]),
                ),
            ]
            for what, plays, against in rows:
                table.add_row(
                    name,
                    what,
                    f"{median(each.per_second for each in plays):,.0f}",
                    f"{median(each.batch for each in plays):.1f}",
                    f"{median(each.median_us for each in plays):,.0f}",
                    f"{median(each.p99_us for each in plays):,.0f}",
                    spread([whole(each) for each in plays], 1),
                    against,
                    end_section=plays is rows[-1][1],
                )
        Console(width=150).print(table)
    sys.exit(int(compiled and any(median(each) > MOST for each in ratios.values())))


if __name__ == "__main__":
    main()
