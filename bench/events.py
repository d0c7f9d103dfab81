"""Share of events that the best bot wins in a race, and share of decided events that are wrong.

    python -m bench.events [--game nullern] [--events 400] [--bots 25] [--matches 375] [--json]

The world: a bot's score is its strength plus a standard normal number, at tables of four. House bots of strength 0
complete a table. Strengths are drawn with replacement from those of real bots, each with a little noise. The arena's
own code draws the tables, computes the standings, takes the looks and decides. The first in the standings counts as the
winner, decided or not. A decided event is wrong if some bot is truly better than the winner by more than the race's
margin.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import sha256
from math import sqrt
from typing import Final, NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from arena.scheduling.event.race import MARGIN, EventEntrant, EventResult, Race

SEATS: Final = 4
NOISE: Final = 0.12
"""Standard deviation of the noise of a strength, as a share of the standard deviation of all strengths."""
WORLDS: Final = {
    "nullern": (1.48, 1.43, 1.33, 1.32, 1.21, 1.14, 0.98, 0.94, 0.91, 0.65, 0.56, 0.39, 0.37, 0.01, -0.10, -0.14,
                -0.24, -0.30, -0.42, -0.54, -0.83, -1.29),
    "sixth_sense": (1.00, 0.96, 0.87, 0.65, 0.29, 0.28, 0.25, 0.22, 0.20, 0.20, 0.18, 0.10, 0.08, -0.04, -0.10, -0.14,
                    -0.16, -0.19, -0.20, -0.22, -0.23, -0.34, -0.35, -0.52),
}  # fmt: skip
"""Strengths of real bots in standard deviations of a score."""
BEST_WINS: Final = 0.62
"""Minimum share of events that the best bot wins, in each game."""
WRONG: Final = 0.08
"""Maximum share of decided events that are wrong, over both games."""
ENOUGH: Final = 300
"""Minimum number of events of a game, or of decided events, for the bar to apply."""
MATCHES_OF_BOT: Final = 60
"""Number of matches of each bot in the default budget."""
CHUNK: Final = 10
"""Number of events per task."""


class SimulatedEvent(NamedTuple):
    """The outcome of a simulated event."""

    best_won: bool
    decided: bool
    wrong: bool
    """True if some bot is truly better than the winner by more than the margin."""
    matches: int
    risk: float
    """Probability of being wrong that the event itself states."""


class GameFigures(NamedTuple):
    """The figures of all events of a game."""

    game: str
    events: int
    best_won: float
    decided: int
    wrong: int
    """Number of decided events that named the wrong winner."""
    matches: float
    risk_of_undecided: float
    wrong_of_undecided: float


def simulated(game: str, bots: int, budget: int, number: int) -> SimulatedEvent:
    """Simulate one event; the same number gives the same event."""
    seed = sha256(f"bench.events {game} {number}".encode()).digest()
    chance = np.random.default_rng(int.from_bytes(seed[:8], "big"))
    world = np.array(WORLDS[game])
    strength = chance.choice(world, bots) + chance.normal(0, NOISE * world.std(), bots)
    of_seat = np.append(strength, 0.0)  # the last strength is a house bot's
    race = Race(seed, [EventEntrant(f"bot-{bot:04}", f"owner-{bot}") for bot in range(bots)], SEATS, budget)
    while not race.over:
        for table in race.start_round():
            race.record(table.number, EventResult(tuple((of_seat[[*table.bots]] + chance.normal(size=SEATS)).tolist())))
        if race.look_due:
            race.look()
    last = race.looks[-1]
    short = float(strength.max() - strength[last.first])
    return SimulatedEvent(short == 0, last.decided, short > MARGIN, len(race.tables), last.risk)


def _chunk(game: str, bots: int, budget: int, numbers: Sequence[int]) -> list[SimulatedEvent]:
    return [simulated(game, bots, budget, number) for number in numbers]


def summarised(game: str, found: Sequence[SimulatedEvent]) -> GameFigures:
    """Return the figures of a game's events."""
    decided = [each for each in found if each.decided]
    rest = [each for each in found if not each.decided]
    return GameFigures(
        game,
        len(found),
        sum(each.best_won for each in found) / len(found),
        len(decided),
        sum(each.wrong for each in decided),
        sum(each.matches for each in found) / len(found),
        sum(each.risk for each in rest) / max(1, len(rest)),
        sum(each.wrong for each in rest) / max(1, len(rest)),
    )


@click.command(help="Measure how often the best bot wins an event, in a simulated world.")
@click.option("--game", "games", multiple=True, type=click.Choice([*WORLDS]), help="Only this game; repeatable.")
@click.option("--events", default=400, show_default=True, type=click.IntRange(1), help="Events of each game.")
@click.option("--bots", default=25, show_default=True, type=click.IntRange(2), help="Bots of an event.")
@click.option("--matches", type=click.IntRange(1), help="Budget of an event; by default 60 for each bot.")
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1), help="Worker processes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(games: tuple[str, ...], events: int, bots: int, matches: int | None, processes: int, as_json: bool) -> None:
    """Measure, and exit with 1 if a bar is missed."""
    progress, rows = Console(stderr=True), []
    matches = matches or -(-MATCHES_OF_BOT * bots // min(SEATS, bots))
    with ProcessPoolExecutor(processes) as pool:
        for game in games or WORLDS:
            tasks = [
                pool.submit(_chunk, game, bots, matches, range(at, min(at + CHUNK, events)))
                for at in range(0, events, CHUNK)
            ]
            found: list[SimulatedEvent] = []
            for task in as_completed(tasks):
                found += task.result()
                won = sum(each.best_won for each in found) / len(found)
                progress.print(f"{game}: {len(found)} of {events} events, the best bot won {won:.1%}")
            rows.append(summarised(game, found))
    decided, wrong = sum(row.decided for row in rows), sum(row.wrong for row in rows)
    missed = [row.game for row in rows if row.events >= ENOUGH and row.best_won < BEST_WINS]
    too_wrong = decided >= ENOUGH and wrong > WRONG * decided
    if as_json:
        figures = {"games": [row._asdict() for row in rows], "decided": decided, "wrong": wrong}
        print(json.dumps(figures | {"reached": not missed and not too_wrong}, indent=2))
    else:
        _print(rows, bots, matches, decided, wrong)
    sys.exit(int(bool(missed) or too_wrong))


def _print(rows: Sequence[GameFigures], bots: int, matches: int, decided: int, wrong: int) -> None:
    table = Table(title=f"Events of {bots} bots, at most {matches} matches of {SEATS}")
    for column in (
        "game",
        "the best bot won",
        "bar",
        "decided",
        "of these wrong",
        "matches",
        "undecided: risk / wrong",
    ):
        table.add_column(column)
    for row in rows:
        error = sqrt(row.best_won * (1 - row.best_won) / row.events)
        table.add_row(
            row.game,
            f"{row.best_won:.1%} ± {error:.1%}",
            f"≥ {BEST_WINS:.0%}",
            f"{row.decided} of {row.events}",
            f"{row.wrong / max(1, row.decided):.1%}",
            f"{row.matches:.0f}",
            f"{row.risk_of_undecided:.2f} / {row.wrong_of_undecided:.2f}",
        )
    console = Console(width=None if os.isatty(1) else 120)
    console.print(table)
    console.print(f"Of {decided} decided events {wrong / max(1, decided):.1%} are wrong (≤ {WRONG:.0%})")


if __name__ == "__main__":
    main()
