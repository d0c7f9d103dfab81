"""Cost of a decision through `Play`, compared with a bare grpc.aio echo of messages of the same sizes.

    python -m bench.play [--case one --case "1x16" …] [--bots sdk] [--compiled] [--json]

A complete server process is pinned to one core, and a process with bots that answer at random to another core. The
server's helpers (database, house bots, fits) may use both. The echo is pinned in the same way and has as many streams
as there are bots, each with one message in transit. Bots and the echo's clients are a Go program, so that they are not
the bottleneck; without Go, or with `--bots sdk`, they are in Python. The servers alternate, so that other load on the
machine affects them equally. The bar applies to a ratio of processor times, which vary less with other load than rates:
the main process's time per decision, divided by the echo's time per message. Two more echoes are shown for comparison.
One exchanges messages as large as 16 decisions and counts a sixteenth of their cost; the other, in Go, shows the limit.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from bench._compiled import option
from bench._limit import limit
from bench._server import TABLES, Play, play, serving
from bench.echo import Figures, run_echo

ANSWER_BYTES: Final = 12
"""Size of a message with one answer, in bytes."""
MANY: Final = 16
"""Number of decisions in a message of the larger echo."""
BOTH_GAMES: Final = ("sixth_sense", "nullern")


class Case(NamedTuple):
    """A load and its bar: the cost of a decision with the compiled build, as a multiple of an echoed message."""

    bots: int
    capacity: int
    """Number of matches that each bot plays at once."""
    bar: float | None
    options: Sequence[str] = (*TABLES, "--no-house")
    games: Sequence[str] = BOTH_GAMES[:1]


CASES: Final = {
    "one": Case(2, 1, 0.9),
    "1x16": Case(1, 16, 0.5, (*TABLES, "--house")),  # a single bot has no other opponent
    "8x16": Case(8, 16, 0.33),
    "200x1": Case(200, 1, 0.65, (*TABLES, "--no-house", "--registrations-per-address", "1000")),
    "default": Case(8, 16, None, (), BOTH_GAMES),
}
"""Loads by name: "one" match, "bots x matches per bot", and a server with default options for bots of both games."""


class Turn(NamedTuple):
    """Figures of one turn: those of the arena and of every echo."""

    arena: Play
    echoes: dict[str, Figures]
    """Figures of the echoes by name. Those of a large message are divided by its number of decisions."""

    @property
    def ratio(self) -> float:
        """Processor time of the server's main process per decision, divided by the echo's per message."""
        return self.arena.server_cpu_us / self.echoes["echo"].server_cpu_us

    @property
    def whole(self) -> float:
        """Processor time of all processes of the server per decision, divided by the echo's per message."""
        return (self.arena.server_cpu_us + self.arena.helpers_cpu_us) / self.echoes["echo"].server_cpu_us


def measure(case: Case, seconds: float, warm_up: float, compiled: bool, go: bool) -> Turn:
    """Measure the arena and the echoes under the same load."""
    with (
        tempfile.TemporaryDirectory() as data,
        serving(Path(data), *case.options, compiled=compiled) as (process, address),
    ):
        arena = play(address, process.pid, case.bots, case.capacity, seconds, warm_up, case.games, go=go)
    echoes = {}
    for name, server, decisions in (
        ("echo", "bare", 1),
        (f"echo, {MANY} a message", "bare", MANY),
        ("in Go", "go", 1),
        (f"in Go, {MANY} a message", "go", MANY),
    ):
        if go or server != "go":
            size = decisions * round(arena.bytes)
            echoes[name] = _share(run_echo(server, case.bots, decisions * ANSWER_BYTES, size, seconds, go), decisions)
    return Turn(arena, echoes)


def _share(figures: Figures, decisions: int) -> Figures:
    return Figures(
        figures.messages_per_second * decisions, figures.median_us, figures.p99_us, figures.server_cpu_us / decisions
    )


def missed(turns: dict[str, list[Turn]]) -> list[str]:
    """Return the cases in which the median over the turns misses the bar."""
    ratios = {name: median(turn.ratio for turn in own) for name, own in turns.items()}
    return [name for name, ratio in ratios.items() if (bar := CASES[name].bar) is not None and ratio > bar]


def _spread(values: Sequence[float], form: str = ",.0f") -> str:
    return f"{median(values):{form}} ({min(values):{form}} – {max(values):{form}})"


@click.command(help="Compare decisions through the arena with messages through a bare echo.")
@click.option("--case", "cases", type=click.Choice([*CASES]), multiple=True, help="What to measure; repeatable.")
@click.option("--seconds", type=float, default=3.0, show_default=True, help="Length of one run.")
@click.option(
    "--warm-up", type=float, default=6.0, show_default=True, help="Seconds for first matches and for helpers to start."
)
@click.option("--repetitions", type=int, default=5, show_default=True)
@click.option("--bots", type=click.Choice(["go", "sdk"]), default="go", show_default=True, help="Kind of bots to use.")
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    cases: tuple[str, ...],
    seconds: float,
    warm_up: float,
    repetitions: int,
    bots: str,
    compiled: bool,
    as_json: bool,
) -> None:
    """Measure. Exit with 1 if a bar is missed with the compiled build."""
    go = bots == "go" and limit() is not None
    turns: dict[str, list[Turn]] = {name: [] for name in cases or CASES}
    for _ in range(repetitions):
        for name, own in turns.items():
            own.append(measure(CASES[name], seconds, warm_up, compiled, go))
    if as_json:
        click.echo(json.dumps({name: [_plain(turn) for turn in own] for name, own in turns.items()}, indent=2))
    else:
        Console(width=190).print(_table(turns, compiled, go))
    sys.exit(int(compiled and bool(missed(turns))))


def _plain(turn: Turn) -> dict[str, Any]:
    echoes = {name: asdict(echo) for name, echo in turn.echoes.items()}
    return {"arena": turn.arena._asdict(), **echoes, "ratio": turn.ratio, "with_helpers": turn.whole}


def _table(turns: dict[str, list[Turn]], compiled: bool, go: bool) -> Table:
    how = f"{'compiled' if compiled else 'nothing compiled'}; clients {'in Go' if go else 'of the SDK'}"
    table = Table(title=f"Decisions through Play ({how}), beside bare echoes: median (range) of the turns")
    for heading in ("bots × matches", "", "a second", "p50 µs", "p99 µs", "server CPU µs", "helpers'", "bots'"):
        table.add_column(heading, justify="right")
    for heading in ("a message", "of the echo's", "with helpers", "bar"):
        table.add_column(heading, justify="right")
    for name, own in turns.items():
        bar, late = CASES[name].bar, name in missed(turns)

        def of(what: Callable[[Play], float], form: str = ",.0f", own: list[Turn] = own) -> str:
            return _spread([what(turn.arena) for turn in own], form)

        table.add_row(
            name,
            "arena",
            of(lambda arena: arena.per_second),
            f"{median(turn.arena.median_us for turn in own):,.0f}",
            f"{median(turn.arena.p99_us for turn in own):,.0f}",
            of(lambda arena: arena.server_cpu_us, ".1f"),
            f"{median(turn.arena.helpers_cpu_us for turn in own):.1f}",
            f"{median(turn.arena.bots_cpu_us for turn in own):.1f}",
            f"{median(turn.arena.batch for turn in own):.1f}",
            _spread([turn.ratio for turn in own], ".2f"),
            f"{median(turn.whole for turn in own):.2f}",
            "" if bar is None else f"≤ {bar}" + " MISSED" * (late and compiled),
        )
        for echo in own[0].echoes:
            runs = [turn.echoes[echo] for turn in own]
            against = [turn.echoes[echo].server_cpu_us / turn.echoes["echo"].server_cpu_us for turn in own]
            table.add_row(
                name,
                echo,
                _spread([run.messages_per_second for run in runs]),
                f"{median(run.median_us for run in runs):,.0f}",
                f"{median(run.p99_us for run in runs):,.0f}",
                _spread([run.server_cpu_us for run in runs], ".1f"),
                "",
                "",
                "",
                "" if echo == "echo" else _spread(against, ".2f"),
                end_section=echo == [*own[0].echoes][-1],
            )
    return table


if __name__ == "__main__":
    main()
