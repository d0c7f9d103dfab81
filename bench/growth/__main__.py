"""Growth of costs with the numbers of playing bots and stored matches.

    python -m bench.growth [--part bots --bots 200 --bots 2000 …] [--part matches --matches 100000 …] [--json]

Bots: 10 to 5,000 bots in Go, each over its own connection, play two-seat games of 6th Sense on servers with the
compiled build; the sizes alternate. The bar applies to the main process's time per decision with 2,000 bots, divided by
that with 200. Matches: a server and the pages run over directories with 100,000 and 1,000,000 matches, and every kind
of request is made. No cost may grow faster than the number of matches. Figures are processor time, memory and disk
space, which depend least on other load.
"""

from __future__ import annotations

import json
import sys
from statistics import median
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench._limit import limit
from bench.growth import bots, matches

PARTS = ("bots", "matches")


def _bots(crowds: tuple[int, ...], seconds: float, warm_up: float, repetitions: int, compiled: bool) -> dict[str, Any]:
    turns: dict[int, list[bots.Crowd]] = {crowd: [] for crowd in crowds}
    for _ in range(repetitions):
        for crowd, own in turns.items():
            own.append(bots.measure(crowd, seconds, warm_up, compiled))
    ratio = bots.ratio(turns)
    rows = {crowd: [each._asdict() for each in own] for crowd, own in turns.items()}
    return {"turns": rows, "ratio": ratio, "missed": compiled and ratio is not None and ratio > bots.MOST}


def _print_bots(found: dict[str, Any]) -> None:
    table = Table(title="Bots that play, one match each: medians of the turns (range)")
    for heading in ("bots", "server CPU µs a decision", "helpers'", "a second", "p99 ms", "to seat one, ms", "MiB"):
        table.add_column(heading, justify="right")
    for crowd, turns in found["turns"].items():
        costs = [each["server_cpu_us"] for each in turns]
        middle = bots.middle([bots.Crowd(**each) for each in turns])
        table.add_row(
            f"{crowd:,}",
            f"{median(costs):.1f} ({min(costs):.1f} – {max(costs):.1f})",
            f"{middle.helpers_cpu_us:.1f}",
            f"{middle.per_second:,.0f}",
            f"{middle.p99_us / 1e3:,.0f}",
            f"{middle.seating_cpu_ms:.2f}",
            f"{middle.memory / 2**20:,.0f}",
        )
    console = Console(width=120)
    console.print(table)
    if (ratio := found["ratio"]) is not None:
        reached = "MISSED" if ratio > bots.MOST else "reached"
        text = f"A decision with {bots.MANY:,} bots costs {ratio:.2f} times what it costs with {bots.FEW:,}"
        console.print(f"{text} (≤ {bots.MOST}: {reached})")


def _matches(sizes: tuple[int, ...], runs: int) -> dict[str, Any]:
    few, many = min(sizes), max(sizes)
    found = {size: matches.measure(size, runs) for size in sizes}
    exponents = {
        name: matches.exponent(found[few][name], found[many][name], many / few) if many > few else 0.0
        for name in found[few]
    }
    judged = few >= matches.KEPT[0] and many > few
    too_fast = [name for name, each in exponents.items() if each > matches.FASTEST]
    return {"sizes": found, "exponents": exponents, "missed": judged and bool(too_fast)}


def _print_matches(found: dict[str, Any]) -> None:
    table = Table("", title="Matches kept: processor time in ms, memory and disk in MiB; exponent of their growth")
    for heading in (*(f"{size:,}" for size in found["sizes"]), "exponent"):
        table.add_column(heading, justify="right")
    for name, exponent in found["exponents"].items():
        of_bytes = name.endswith(", bytes")
        values = [size[name] / 2**20 if of_bytes else 1e3 * size[name] for size in found["sizes"].values()]
        late = " MISSED" * (exponent > matches.FASTEST)
        table.add_row(name.removesuffix(", bytes"), *(f"{value:,.1f}" for value in values), f"{exponent:.2f}{late}")
    Console(width=120).print(table)


@click.command(help="Measure how costs grow with the numbers of bots and matches.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="What to measure; repeatable.")
@click.option("--bots", "crowds", type=click.IntRange(2), multiple=True, default=bots.CROWDS, show_default=True)
@click.option("--matches", "kept", type=click.IntRange(1_000), multiple=True, default=matches.KEPT, show_default=True)
@click.option("--seconds", type=float, default=8.0, show_default=True, help="Seconds of measured play.")
@click.option("--warm-up", type=float, default=6.0, show_default=True, help="Seconds of play before the measurement.")
@click.option(
    "--repetitions", type=click.IntRange(1), default=3, show_default=True, help="Repetitions for each number of bots."
)
@click.option("--runs", type=click.IntRange(1), default=5, show_default=True, help="Runs of each command and page.")
@click.option("--compiled/--sources", default=True, show_default=True, help="Build that the bots' servers run.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(
    parts: tuple[str, ...],
    crowds: tuple[int, ...],
    kept: tuple[int, ...],
    seconds: float,
    warm_up: float,
    repetitions: int,
    runs: int,
    compiled: bool,
    as_json: bool,
) -> None:
    """Measure, and exit with 1 if a bar is missed."""
    found: dict[str, dict[str, Any]] = {}
    if "bots" in (parts or PARTS) and limit() is not None:
        found["bots"] = _bots(crowds, seconds, warm_up, repetitions, compiled)
        if not as_json:
            _print_bots(found["bots"])
    if "matches" in (parts or PARTS):
        found["matches"] = _matches(kept, max(2, runs))
        if not as_json:
            _print_matches(found["matches"])
    if as_json:
        print(json.dumps(found, indent=2))
    sys.exit(int(any(part["missed"] for part in found.values())))


if __name__ == "__main__":
    main()
