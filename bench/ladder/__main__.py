"""Accuracy, convergence and speed of the ladder, compared with other systems, in simulated worlds and real matches.

    python -m bench.ladder [--part coverage …] [--quick | --long] [--json] [--chart FILE]

All randomness comes from the seed. The program exits with 1 if a figure misses its bar by more than twice its standard
error.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from time import perf_counter

import click
from rich.console import Console
from rich.table import Table

from bench.ladder import (
    accomplices,
    chart,
    collusion,
    company,
    coverage,
    evening,
    growth,
    newcomers,
    quota,
    ranking,
    rebuild,
    rivals,
    versions,
)
from bench.ladder.figures import Bar, Effort, Figure, Verdict

PARTS = {
    "ranking": "Games until the ladder's order is right: 40 bots, 4 seats",
    "rivals": "Log-loss of forecasts of real matches, beside other rating systems",
    "coverage": "95 % intervals that hold the truth",
    "versions": "What versions gain",
    "rebuild": "A million matches, one core",
    "growth": "Ten thousand versions, one core",
    "evening": "Live ratings beside fits, and tables, with the real scheduler",
    "collusion": "Bots that lose on purpose, and how often honest ones look like it",
    "newcomers": "The real scheduler beside random tables",
}
COLLUSION = (collusion, quota, accomplices, company)
COLOURS = {Verdict.REACHED: "green", Verdict.MISSED: "bold red", Verdict.OPEN: "yellow"}


def measure(part: str, effort: Effort, seed: int, picture: Path | None) -> list[Figure]:
    """Measure the figures of one part. The part "ranking" also writes a chart to `picture`, if given."""
    match part:
        case "ranking":
            curves = ranking.curves(effort, seed)
            if picture:
                picture.write_text(chart.draw(curves))
            return ranking.measure(effort, seed, curves)
        case "rivals":
            return rivals.measure(effort, seed)
        case "coverage":
            return coverage.measure(effort, seed)
        case "rebuild":
            return rebuild.measure(effort, seed)
        case "versions":
            return versions.measure(effort, seed)
        case "growth":
            return growth.measure(effort, seed)
        case "evening":
            return evening.measure(effort, seed)
        case "collusion":
            return [figure for each in COLLUSION for figure in each.measure(effort, seed)]
        case _:
            return newcomers.measure(effort, seed)


def table(part: str, figures: list[Figure], seconds: float) -> Table:
    """Draw a row for each figure."""
    result = Table(title=f"{PARTS[part]} ({seconds:.0f} s)", title_justify="left")
    for heading, right in (("", False), ("", True), ("± error", True), ("bar", False), ("", False), ("", False)):
        result.add_column(heading, justify="right" if right else "left")
    for figure in figures:
        verdict = figure.verdict
        result.add_row(
            figure.what,
            f"{figure.value:{figure.form}} {figure.unit}".strip() if math.isfinite(figure.value) else "never",
            f"{figure.error:{figure.form}}" if figure.error else "",
            _shown(figure.bar) if figure.bar else "",
            f"[{COLOURS[verdict]}]{verdict.value}" if verdict else "",
            figure.note,
        )
    return result


def _shown(bar: Bar) -> str:
    if math.isinf(bar.high):
        return f"≥ {bar.low:g}"
    if math.isinf(bar.low):
        return f"≤ {bar.high:g}"
    return f"{bar.low:g} – {bar.high:g}"


@click.command(help="Measure the ladder in simulated worlds and on real matches.")
@click.option("--part", "parts", type=click.Choice([*PARTS]), multiple=True, help="What to measure; repeatable.")
@click.option(
    "--quick",
    "effort",
    flag_value=Effort.QUICK,
    type=Effort,
    help="Take only seconds, with too few worlds for a verdict.",
)
@click.option(
    "--long",
    "effort",
    flag_value=Effort.LONG,
    type=Effort,
    help="Simulate as many worlds as for the tables in the documentation.",
)
@click.option("--seed", default=6, show_default=True, help="Seed of all random numbers.")
@click.option(
    "--chart", "picture", type=click.Path(path_type=Path, dir_okay=False), help="Draw the ranking to this SVG file."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.pass_context
def main(
    context: click.Context,
    parts: tuple[str, ...],
    effort: Effort | None,
    seed: int,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Measure the parts, and print the table of each when it is done."""
    found = {}
    for part in parts or PARTS:
        began = perf_counter()
        found[part] = measure(part, effort or Effort.DEFAULT, seed, picture)
        if not as_json:
            Console(width=150).print(table(part, found[part], perf_counter() - began))
    if as_json:
        click.echo(
            json.dumps({part: [figure.plain() for figure in figures] for part, figures in found.items()}, indent=2)
        )
    missed = any(figure.verdict is Verdict.MISSED for figures in found.values() for figure in figures)
    context.exit(missed)


if __name__ == "__main__":
    main()
