"""How many games the designs of `arena match` save, and how soon an effect worth 50 Elo is known.

    python -m studies.designs [--game nullern] [--seats 4] [--sets 100] [--markdown | --json]

The counting house bot against itself with 5 % slips (`unlike`), and with slips against the same with other slips
(`alike`), beside counting bots. A slip is a legal action at random. The gain of a design is how many times as many
games on independent deals would be as sure, by points: the ratio of the variances of a set, an effect of the same size
in both. Errors are one standard error, by leaving out each tenth of the sets in turn. The second table
takes the sets of unlike bots, with their mean moved to what 50 Elo would be, draws from them anew, and counts the games
until the sequential test, t1 being that mean, knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from itertools import product
from math import sqrt
from random import Random
from statistics import fmean, pvariance
from typing import Any, Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from arena.house import HOUSE_BOTS
from arena.local.match.comparison import RunningTest, SequentialOutcome, SequentialTest, compare, set_score
from arena.local.match.design import ONE, OTHER, Design, planned
from arena.local.match.sets import PlayedSet, SeatedGame
from arena.local.play.players import LocalHousePlayer
from arena.local.play.table import play_game
from arena.server.sessions.messages import Outgoing
from engine.registry import GAMES

SLIPS: Final = 5
"""Per cent of decisions."""
ELO: Final = 50.0
PARTS: Final = 10
PAIRS: Final = ("alike", "unlike")


class Slipping(LocalHousePlayer):
    """The counting bot that now and then plays anything; its chance is its own."""

    def __init__(self, game: str, number: int, slips: int) -> None:
        super().__init__(HOUSE_BOTS[game][-1])
        self._number = number
        self._slips = slips

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        """See `LocalPlayer`."""
        for decision, action in super().hear(message):
            [legal] = [each.ask.legal for each in message.questions if each.ask.decision == decision]
            drawn = sha256(self._key + b"%d %d" % (self._number, decision)).digest()
            slips = int.from_bytes(drawn[:4], "big") % 100 < self._slips
            yield decision, legal[int.from_bytes(drawn[4:8], "big") % len(legal)] if slips else action


class Cell(NamedTuple):
    """One design of one game and size for one pair."""

    game: str
    seats: int
    design: Design
    pair: str


class CellSets(NamedTuple):
    """What was played of a cell."""

    scores: list[float]
    elo: float | None


class Gain(NamedTuple):
    """How many times as many games on independent deals would be as sure, with its standard error."""

    value: float
    error: float


def played(cell: Cell, sets: int) -> CellSets:
    """Play so many sets."""
    one, other = (0 if cell.pair == "unlike" else SLIPS), SLIPS
    game, found = GAMES[cell.game], []
    for number in range(sets):
        games = []
        for plan in planned(cell.design, cell.seats, number, 16):
            table = [Slipping(cell.game, bot, {ONE: one, OTHER: other}.get(bot, 0)) for bot in plan.bots]
            games.append(SeatedGame(plan.bots, play_game(game, {}, plan.key, table, number + 1)))
        found.append(PlayedSet(number, tuple(games)))
    elo = compare(cell.design, found).elo
    return CellSets([set_score(cell.design, each) for each in found], None if elo is None else elo.value)


def gain(
    design: Sequence[float], independent: Sequence[float], scales: tuple[Sequence[float], Sequence[float]]
) -> Gain:
    """Compare the sets of a design with those on independent deals.

    `scales` are sets of unlike bots, of this design and in the same seats: they say what an effect of one point in the
    same seats, and so on independent deals, is in this design.
    """

    def ratio(part: int | None) -> float:
        kept = [
            [each for at, each in enumerate(values) if at % PARTS != part] for values in (design, independent, *scales)
        ]
        spread, of_same = pvariance(kept[0]), fmean(kept[3])
        return pvariance(kept[1]) / spread * (fmean(kept[2]) / of_same) ** 2 if spread and of_same else 0.0

    without = [ratio(part) for part in range(PARTS)]
    middle = fmean(without)
    return Gain(ratio(None), sqrt((PARTS - 1) * fmean((each - middle) ** 2 for each in without)))


def known_after(scores: Sequence[float], elo: float, runs: int) -> tuple[float, float]:
    """Return the games until an effect worth 50 Elo is known, the mean, and the share of right verdicts."""
    mean, deviation = fmean(scores), sqrt(pvariance(scores))
    effect = mean * ELO / elo
    test, chance = SequentialTest(0.0, effect / deviation), Random(50)
    games, right = 0, 0
    for _ in range(runs):
        running = RunningTest(test)
        while running.state.outcome is SequentialOutcome.UNDECIDED:
            running.add(chance.choice(scores) - mean + effect)
        games += 2 * running.state.sets
        right += running.state.outcome is SequentialOutcome.BETTER
    return games / runs, right / runs


@click.command(help="Measure the designs of `arena match`.")
@click.option("--game", "games", multiple=True, type=click.Choice([*GAMES]), help="Only this game; repeatable.")
@click.option("--seats", "sizes", multiple=True, type=int, help="Only tables of this size; repeatable.")
@click.option("--sets", default=100, show_default=True, type=click.IntRange(10), help="Sets of each cell.")
@click.option("--runs", default=500, show_default=True, type=click.IntRange(1), help="Draws of the second table.")
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1), help="Worker processes.")
@click.option("--markdown", is_flag=True, help="Print the tables as docs/workbench.md has them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(
    games: tuple[str, ...], sizes: tuple[int, ...], sets: int, runs: int, processes: int, markdown: bool, as_json: bool
) -> None:
    """Print both tables."""
    tables = [(game, seats) for game in games or GAMES for seats in GAMES[game].seats if seats in (sizes or [seats])]
    cells = [Cell(game, seats, design, pair) for (game, seats), design, pair in product(tables, Design, PAIRS)]
    with ProcessPoolExecutor(processes) as pool:
        sets_of = dict(zip(cells, pool.map(played, cells, [sets] * len(cells)), strict=True))
    gains = {}
    for cell, found in sets_of.items():
        if cell.design is not Design.INDEPENDENT:
            unlike = cell._replace(pair="unlike")
            scales = sets_of[unlike].scores, sets_of[unlike._replace(design=Design.SAME_SEATS)].scores
            gains[cell] = gain(found.scores, sets_of[cell._replace(design=Design.INDEPENDENT)].scores, scales)
    effects = {
        cell: (found.elo, *known_after(found.scores, found.elo, runs))
        for cell, found in sets_of.items()
        if cell.pair == "unlike" and found.elo is not None and found.elo > 0 and fmean(found.scores) > 0
    }
    if as_json:
        print(json.dumps(_document(gains, effects)))
        return
    for title, headings, rows in (_gain_rows(tables, gains), _effect_rows(effects)):
        _print(title, headings, rows, markdown)


def _document(gains: dict[Cell, Gain], effects: dict[Cell, tuple[float, float, float]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for cell, measured in gains.items():
        effect = effects.get(cell)
        row = cell._asdict() | {"design": cell.design.value, "gain": measured.value, "error": measured.error}
        found.append(row | {"elo": effect and effect[0], "games": effect and effect[1], "right": effect and effect[2]})
    return found


def _gain_rows(tables: Sequence[tuple[str, int]], gains: dict[Cell, Gain]) -> tuple[str, list[str], list[list[str]]]:
    columns = [(design, pair) for design in (Design.SAME_SEATS, Design.ONE_TABLE) for pair in PAIRS]
    rows = []
    for game, seats in tables:
        cells = [gains[Cell(game, seats, design, pair)] for design, pair in columns]
        rows.append([game, str(seats), *(f"{each.value:.1f} ± {each.error:.1f}" for each in cells)])
    headings = ["game", "seats", *(f"{design.value}, {pair}" for design, pair in columns)]
    return "Gain over independent deals", headings, rows


def _effect_rows(effects: dict[Cell, tuple[float, float, float]]) -> tuple[str, list[str], list[list[str]]]:
    rows = [
        [cell.game, str(cell.seats), cell.design.value, f"{elo:.0f}", f"{games:.0f}", f"{right:.0%}"]
        for cell, (elo, games, right) in effects.items()
    ]
    return f"Games until +{ELO:.0f} Elo are known", ["game", "seats", "design", "slips, Elo", "games", "right"], rows


def _print(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> None:
    if markdown:
        for row in (headings, ["---"] * len(headings), *rows):
            print(f"| {' | '.join(row)} |")
        print()
        return
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
