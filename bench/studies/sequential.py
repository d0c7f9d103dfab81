"""Error rates of the sequential tests of `arena match` at 0 and at 20 Elo, and their verdicts between these values.

    python -m bench.studies.sequential [--game nullern] [--seats 4] [--sets 1000] [--runs 2000] [--markdown | --json]

The deal pairs are real: the counting house bot with 5 % random slips plays against a copy with different slips, at one
table with plain counting bots. No two bots are exactly 20 Elo apart. So the pairs are resampled with weights that make
the share of games won exactly right for a given number of Elo (exponential tilting). One test decides between 0 and 20
Elo. The other decides between 0 points and the equivalent of 20 Elo in that game, with weights that make the mean score
in points exact.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from math import exp, sqrt
from random import Random
from typing import Any, Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from arena.house import HOUSE_BOTS
from arena.ladder.live import expected
from arena.local.match.design import Design, planned
from arena.local.match.sequential import RunningTest, ScoreUnit, SequentialOutcome, SequentialTest
from arena.local.match.sets import PlayedSet, SeatedGame, set_score, set_share
from arena.local.play.players import LocalHousePlayer
from arena.local.play.table import play_game
from arena.server.sessions.messages import Outgoing
from engine.registry import GAMES

SLIPS: Final = 5
"""Percentage of decisions that are slips."""
ELO: Final = 20.0
TRUTHS: Final = (0.0, ELO / 2, ELO)


class Slipping(LocalHousePlayer):
    """The counting bot with occasional slips, in which it plays a random action."""

    def __init__(self, game: str, number: int, slips: int) -> None:
        super().__init__(HOUSE_BOTS[game][-1])
        self._number = number
        self._slips = slips

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        """Answer as the counting bot does, except for the slips."""
        for decision, action in super().hear(message):
            [legal] = [each.ask.legal for each in message.questions if each.ask.decision == decision]
            drawn = sha256(self._key + b"%d %d" % (self._number, decision)).digest()
            slips = int.from_bytes(drawn[:4], "big") % 100 < self._slips
            yield decision, legal[int.from_bytes(drawn[4:8], "big") % len(legal)] if slips else action


class RealSet(NamedTuple):
    """The scores of one set."""

    share: float
    points: float


class Errors(NamedTuple):
    """Verdicts and lengths of a test in one unit (Elo or points), for one game and table size."""

    game: str
    seats: int
    unit: str
    upper: float
    """The test's upper bound, equivalent to 20 Elo, in the test's unit. The lower bound is 0."""
    better: tuple[float, ...]
    """Share of tests with the verdict "better" if the true value is 0, half the bound, and the bound."""
    sets: tuple[float, ...]
    """Mean number of sets of a test at these true values."""


def real_sets(name: str, seats: int, sets: int) -> list[RealSet]:
    """Play `sets` sets and return their scores."""
    game, found = GAMES[name], []
    for number in range(sets):
        games = []
        for plan in planned(Design.ONE_TABLE, seats, number, 16):
            table = [Slipping(name, bot, SLIPS if bot < 2 else 0) for bot in plan.bots]
            games.append(SeatedGame(plan.bots, play_game(game, {}, plan.key, table, number + 1)))
        played = PlayedSet(number, tuple(games))
        found.append(RealSet(set_share(played), set_score(Design.ONE_TABLE, played)))
    return found


def tilted(sets: Sequence[RealSet], of: Callable[[RealSet], float], mean: float) -> list[float]:
    """Return weights for the sets that make the weighted mean of the score `of` equal to `mean`."""
    low, high = -50.0, 50.0
    scale = max(abs(of(each)) for each in sets)
    for _ in range(100):
        middle = (low + high) / 2
        weights = [exp(middle * of(each) / scale) for each in sets]
        reached = sum(weight * of(each) for weight, each in zip(weights, sets, strict=True)) / sum(weights)
        low, high = (middle, high) if reached < mean else (low, middle)
    return weights


def _mean(sets: Sequence[RealSet], weights: Sequence[float]) -> float:
    """Return the weighted mean of the sets' points."""
    return sum(weight * each.points for weight, each in zip(weights, sets, strict=True)) / sum(weights)


def measured(name: str, seats: int, sets: int, runs: int) -> list[Errors]:
    """Measure both tests for one game and table size."""
    played = real_sets(name, seats, sets)
    better, alike = (_mean(played, tilted(played, _share, expected(elo, 0.0))) for elo in (ELO, 0.0))
    worth = better - alike
    found = []
    for test in (SequentialTest(0.0, ELO, ScoreUnit.ELO), SequentialTest(0.0, worth, ScoreUnit.POINTS)):
        score, means = (_points, [worth * truth / ELO for truth in TRUTHS])
        if test.unit is ScoreUnit.ELO:
            score, means = _share, [expected(truth, 0.0) for truth in TRUTHS]
        scores = [score(each) for each in played]
        outcomes = [_outcomes(test, scores, tilted(played, score, mean), runs) for mean in means]
        found.append(Errors(name, seats, test.unit.value, test.upper, *zip(*outcomes, strict=True)))
    return found


def _share(of: RealSet) -> float:
    return of.share


def _points(of: RealSet) -> float:
    return of.points


def _outcomes(
    test: SequentialTest, scores: Sequence[float], weights: Sequence[float], runs: int
) -> tuple[float, float]:
    """Return the share of tests with the verdict "better", and the mean number of sets per test."""
    chance, better, sets = Random(20), 0, 0
    for _ in range(runs):
        running = RunningTest(test)
        while running.undecided:
            for score in chance.choices(scores, weights, k=200):
                running.add(score)
        better += running.state.outcome is SequentialOutcome.BETTER
        sets += running.state.sets
    return better / runs, sets / runs


@click.command(help="Measure the sequential tests of `arena match`.")
@click.option("--game", "games", multiple=True, type=click.Choice([*GAMES]), help="Only this game; repeatable.")
@click.option("--seats", "sizes", multiple=True, type=int, help="Only tables of this size; repeatable.")
@click.option("--sets", default=1000, show_default=True, type=click.IntRange(10), help="Real sets for each table size.")
@click.option(
    "--runs", default=2000, show_default=True, type=click.IntRange(1), help="Simulated tests for each true value."
)
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1), help="Worker processes.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    games: tuple[str, ...], sizes: tuple[int, ...], sets: int, runs: int, processes: int, markdown: bool, as_json: bool
) -> None:
    """Print the table."""
    tables = [(game, seats) for game in games or GAMES for seats in GAMES[game].seats if seats in (sizes or [seats])]
    with ProcessPoolExecutor(processes) as pool:
        done = [pool.submit(measured, game, seats, sets, runs) for game, seats in tables]
        rows = [each for future in done for each in future.result()]
    if as_json:
        found: list[dict[str, Any]] = [each._asdict() for each in rows]
        print(json.dumps(found))
        return
    headings = ["game", "seats", "test", "“better” at 0", "between", "“not better” at the bound", "sets"]
    texts = [
        [
            each.game,
            str(each.seats),
            f"{each.unit} 0 or {each.upper:.3g}",
            _with_error(each.better[0], runs),
            f"{each.better[1]:.0%}",
            _with_error(1 - each.better[2], runs),
            " / ".join(f"{count:.0f}" for count in each.sets),
        ]
        for each in rows
    ]
    if markdown:
        for row in (headings, ["---"] * len(headings), *texts):
            print(f"| {' | '.join(row)} |")
        return
    table = Table(title="Sequential tests")
    for heading in headings:
        table.add_column(heading)
    for row in texts:
        table.add_row(*row)
    Console().print(table)


def _with_error(share: float, runs: int) -> str:
    return f"{share:.1%} ± {sqrt(share * (1 - share) / runs):.1%}"


if __name__ == "__main__":
    main()
