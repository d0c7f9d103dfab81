"""Cost of a decision in `arena match` with commands as bots, as a multiple of a random decision of the engine.

    python -m bench.local_commands

The bots are SDK bots, four at a table, and play 16 games at once over a Unix socket. Only the processor time of this
process counts. Runner and engine alternate. Both run from the sources, not compiled. The bar is 70.
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Final

import click

from arena.local.match.command_runner import play_sets_with_commands
from arena.local.match.design import Design
from arena.local.match.runner import versions
from arena.local.match.sets import Subject
from arena.local.server.command_bot import CommandPlace
from bench.engine import play_engine
from engine.deal import KEY_BYTES, SeededDecks
from engine.registry import GAMES

SEATS: Final = 4
GAMES_AT_ONCE: Final = 16
BAR: Final = 70
BOT: Final = """
from arena_client import Bot, run

class First(Bot):
    games = ("nullern", "sixth_sense")
    capacity = 16

    def decide(self, decision):
        return decision.legal[0]

if __name__ == "__main__":
    run(First(), "localhost:1", verbose=False)
"""


def runner_seconds(game: str, sets: int) -> float:
    """Return this process's processor time per decision in seconds, including the start of its bots."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bot.py"
        file.write_text(BOT)
        bots = (f"cmd:{shlex.quote(sys.executable)} {file}",) * (SEATS + 1)
        subject = Subject(game, {}, SEATS, Design.SAME_SEATS, 1, bots, versions(game, bots))
        began, decisions = time.process_time(), 0
        for each in play_sets_with_commands(subject, range(sets), GAMES_AT_ONCE, CommandPlace()):
            decisions += sum(sum(one.played.decisions) for one in each.games)
    return (time.process_time() - began) / decisions


def engine_seconds(game: str, games: int) -> float:
    """Return the processor time of a random decision of the engine, in seconds."""
    random = Random(6)
    states = (GAMES[game].new(SEATS, SeededDecks(random.randbytes(KEY_BYTES))) for _ in range(games))
    began = time.process_time()
    decisions = play_engine(states, random).decisions
    return (time.process_time() - began) / decisions


@click.command()
@click.option("--repetitions", metavar="N", default=3, show_default=True, help="Turns of each contender.")
@click.option("--sets", metavar="N", default=100, show_default=True, help="Sets of two games per turn.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(repetitions: int, sets: int, as_json: bool) -> None:
    """Measure the runner's cost of a command's decision, in random decisions of the engine."""
    figures: dict[str, list[float]] = {game: [] for game in GAMES}
    costs: dict[str, list[float]] = {game: [] for game in GAMES}
    for _ in range(repetitions):
        for game, ratios in figures.items():
            engine, runner = engine_seconds(game, sets), runner_seconds(game, sets)
            ratios.append(runner / engine)
            costs[game].append(runner * 1e6)
    if as_json:
        click.echo(json.dumps({"ratios": figures, "us": costs}))
        return
    for game, ratios in figures.items():
        times = statistics.median(costs[game])
        click.echo(
            f"{game}: {statistics.median(ratios):.0f} times a random decision of the engine "
            f"({min(ratios):.0f} to {max(ratios):.0f}), {times:.0f} µs of the runner; the bar is {BAR}"
        )


if __name__ == "__main__":
    main()
