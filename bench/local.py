"""Cost of a decision in `arena match`, as a multiple of a random decision of the engine in the same run.

    python -m bench.local [--json] [--repetitions 5]

In process: bots of the Python SDK choose at random in all four seats. Their own `decide` is measured separately and
subtracted, which leaves the runner, the referee, the codec and the client's objects. The engine's random play and the
runner's alternate, so that other load affects both. Times are processor time; the table shows medians and ranges.

Workers: one worker process and two take turns to play sets of house bots. The figures are the processor time per game
and the speed-up with two, each the best of the repetitions. The speed-up is only meaningful on a machine with two free
cores.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from os import times
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Any, Final, cast

import click
from rich.console import Console
from rich.table import Table

from arena.local.match.design import Design
from arena.local.match.runner import play_sets, versions
from arena.local.match.sets import Subject
from arena.local.play.players import LocalClientPlayer, load
from arena.local.play.table import play_game
from bench.engine import SEATS, median_and_range, play_engine
from engine.deal import SeededDecks
from engine.registry import GAMES

BOT: Final = """
import random
from arena_client import Bot

class Chance(Bot):
    games = ("sixth_sense", "nullern")

    def decide(self, decision):
        legal = decision.legal
        return legal[int(random.random() * len(legal))]
"""
IN_PROCESS: Final = 12.0
"""Maximum cost of a decision, as a multiple of a random decision of the engine."""
PROCESSOR: Final = 1.1
"""Maximum processor time per game with two workers, as a multiple of the time with one."""
SOONER: Final = 1.6
"""Minimum speed-up with two workers."""


def ratios(name: str, repetitions: int, games: int) -> Iterator[tuple[float, float]]:
    """Yield for each repetition the time per decision in process, in microseconds, and its ratio to the engine's."""
    game = GAMES[name]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bot.py"
        file.write_text(BOT)
        players = [cast("LocalClientPlayer", load(str(file), game)) for _ in range(SEATS)]
    decide = players[0].bot.decide
    asked: Any = SimpleNamespace(legal=[*range(4)])
    for repetition in range(repetitions + 1):
        keys = [sha256(b"%d %d" % (repetition, number)).digest() for number in range(games)]
        engine = play_engine((game.new(SEATS, SeededDecks(key)) for key in keys), Random(repetition))
        began, decisions = process_time(), 0
        for number, key in enumerate(keys, start=1):
            decisions += sum(play_game(game, {}, key, players, number).decisions)
        took = process_time() - began
        began = process_time()
        for _ in range(decisions):
            decide(asked)
        took -= process_time() - began
        if repetition:  # the first repetition is the warm-up
            yield 1e6 * took / decisions, (took / decisions) / (engine.seconds / engine.decisions)


def workers(repetitions: int, sets: int) -> Iterator[tuple[float, float]]:
    """Yield for each repetition the processor time of two workers divided by that of one worker, and their speed-up."""
    bots = ("house:counter", "house:careful", *["house:counter"] * 3)
    subject = Subject("nullern", {}, SEATS, Design.SAME_SEATS, 1, bots, versions("nullern", bots))
    for repetition in range(repetitions):
        (one, wall_of_one), (two, wall_of_two) = (_slope(subject, repetition, sets, count) for count in (1, 2))
        yield two / one, wall_of_one / wall_of_two


def _slope(subject: Subject, repetition: int, sets: int, count: int) -> tuple[float, float]:
    """Return the processor and wall time of 4 × `sets` sets without the start of the workers.

    Both are the difference between playing 5 × `sets` sets and playing `sets` sets.
    """
    few, many = (
        _played(subject, range(100_000 * repetition, 100_000 * repetition + n), count) for n in (sets, 5 * sets)
    )
    return many[0] - few[0], many[1] - few[1]


def _played(subject: Subject, numbers: range, count: int) -> tuple[float, float]:
    """Return the processor and wall time of playing these sets, from the start of their workers to their end."""
    began, wall = sum(times()[:4]), perf_counter()
    for _ in play_sets(subject, numbers, count):
        pass
    return sum(times()[:4]) - began, perf_counter() - wall


@click.command(help="Measure the cost of a decision in `arena match`.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1), help="Turns of each contender.")
@click.option("--games", default=20, show_default=True, type=click.IntRange(1), help="Games per turn, in process.")
@click.option("--sets", default=60, show_default=True, type=click.IntRange(1), help="Sets per turn, played by workers.")
def main(as_json: bool, repetitions: int, games: int, sets: int) -> None:
    """Print the figures and mark those that miss their bar."""
    rows: list[tuple[str, list[float], str, bool]] = []
    for name in GAMES:
        found = [*ratios(name, repetitions, games)]
        both = [ratio for _, ratio in found]
        rows.append((f"{name}: µs a decision in process", [cost for cost, _ in found], "", True))
        rows.append((f"{name}: of the engine's random decision", both, f"≤ {IN_PROCESS:g}", median(both) <= IN_PROCESS))
    shared = [*workers(repetitions, sets)]
    costs, sooner = [cost for cost, _ in shared], [wall for _, wall in shared]
    rows.append(("processor time a game, two workers over one", costs, f"≤ {PROCESSOR:g}", median(costs) <= PROCESSOR))
    rows.append(("two workers are done sooner, times", sooner, f"≥ {SOONER:g} at best", max(sooner) >= SOONER))
    if as_json:
        print(json.dumps({name: {"values": values, "bar": bar, "held": held} for name, values, bar, held in rows}))
    else:
        table = Table(title=f"arena match, {SEATS} seats: median (range)")
        for heading in ("", "", "bar", ""):
            table.add_column(heading, justify="right" if heading else "left")
        for name, values, bar, held in rows:
            table.add_row(name, median_and_range(values), bar, "" if held else "missed")
        Console().print(table)


if __name__ == "__main__":
    main()
