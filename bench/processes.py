"""What a decision costs a server of two processes, beside one of one process: the sum of all of its processes.

    python -m bench.processes [--processes 2] [--case 8x16 …] [--repetitions 5] [--compiled] [--json]

Both take turns under the same load: bots that answer at random, a program in Go where there is Go. Judged is processor
time: of one process, of all that plays matches, and with the helpers. Who is connected where is settled as bots come,
and each match is played where most of its bots are, so that with two processes and tables for two a quarter of the
decisions cross from one to the other.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from bench._compiled import option
from bench._limit import limit
from bench._server import TABLES, Play, play, serving

MOST: Final = 1.15
"""What a decision of several processes may cost of one with a single process, all of them summed, compiled."""
MANY_BOTS: Final = ("--registrations-per-address", "1000")
CASES: Final = {"8x16": (8, 16), "32x8": (32, 8), "200x1": (200, 1)}
"""Bots, and matches of each at once."""


def measure(processes: int, bots: int, capacity: int, seconds: float, warm_up: float, compiled: bool, go: bool) -> Play:
    """Measure one server."""
    options = (*TABLES, "--no-house", *MANY_BOTS, "--processes", str(processes))
    with tempfile.TemporaryDirectory() as data, serving(Path(data), *options, compiled=compiled) as (process, address):
        return play(address, process.pid, bots, capacity, seconds, warm_up, go=go)


def whole(turn: Play) -> float:
    """Microseconds of all processes of a server for a decision."""
    return turn.server_cpu_us + turn.helpers_cpu_us


@click.command(help=f"Processor time of a decision with several processes over that with one; at most {MOST}.")
@click.option("--processes", type=click.IntRange(min=2), default=2, show_default=True)
@click.option("--case", "cases", type=click.Choice([*CASES]), multiple=True, help="What to measure; repeatable.")
@click.option("--seconds", type=float, default=4.0, show_default=True, help="Length of one run.")
@click.option("--warm-up", type=float, default=6.0, show_default=True, help="Seconds before it.")
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
    """Measure, and exit with 1 where the bar is missed with the compiled build."""
    go = limit() is not None
    turns: dict[str, list[tuple[Play, Play]]] = {name: [] for name in cases or CASES}
    for _ in range(repetitions):
        for name, own in turns.items():
            one, several = (measure(each, *CASES[name], seconds, warm_up, compiled, go) for each in (1, processes))
            own.append((one, several))
    ratios = {name: [whole(several) / whole(one) for one, several in own] for name, own in turns.items()}
    if as_json:
        figures = {
            name: [{"one": one._asdict(), "several": several._asdict()} for one, several in own]
            for name, own in turns.items()
        }
        click.echo(json.dumps({"processes": processes, "ratios": ratios, "turns": figures}, indent=2))
    else:
        how = "compiled" if compiled else "nothing compiled"
        table = Table(title=f"A decision with {processes} processes beside one ({how}): median (range) of the turns")
        for heading in ("bots × matches", "processes", "a second", "p50 µs", "p99 µs", "CPU µs, all", "of one"):
            table.add_column(heading, justify="right")
        for name, own in turns.items():
            for number, plays in ((1, [one for one, _ in own]), (processes, [several for _, several in own])):
                costs = [whole(each) for each in plays]
                against = (
                    ""
                    if number == 1
                    else f"{median(ratios[name]):.2f} ({min(ratios[name]):.2f} – {max(ratios[name]):.2f})"
                )
                table.add_row(
                    name,
                    f"{number}",
                    f"{median(each.per_second for each in plays):,.0f}",
                    f"{median(each.median_us for each in plays):,.0f}",
                    f"{median(each.p99_us for each in plays):,.0f}",
                    f"{median(costs):.1f} ({min(costs):.1f} – {max(costs):.1f})",
                    against,
                    end_section=number > 1,
                )
        Console(width=150).print(table)
    sys.exit(int(compiled and any(median(each) > MOST for each in ratios.values())))


if __name__ == "__main__":
    main()
