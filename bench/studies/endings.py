"""Points that house bots lose per decision near the end of a round, by exact solution.

    python -m bench.studies.endings [--decisions N] [--game NAME] [--seats N] [--cards N] [--json]

The house bots of a game that do not search play each other. Whenever a seat with at most `--cards` cards has a choice,
the action of every house bot is compared with the best action. The comparison covers all worlds (deals that fit the
seat's view) if they are few, otherwise a random sample (`engine.endings`). The cost is in points of the round above the
others' mean, for a seat that learns all hands right afterwards. Positions come from one match each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count, islice
from math import sqrt
from random import Random
from statistics import mean, stdev
from typing import Any, Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from arena.house import HOUSE_BOTS, named_bots
from arena.replay.render.show import RENDERERS
from engine.deal import SeededDecks
from engine.endings.expectation import expected_costs
from engine.endings.solver import EndingSolver
from engine.game import OVER
from engine.registry import GAMES

MOST: Final = 4_000
"""Maximum number of worlds for which all are solved."""
DRAWN: Final = 100
"""Number of worlds to draw at random if there are more than `MOST`."""
DUST: Final = 1e-9
"""Difference in points below which values count as equal, because of rounding errors."""
FIRST: Final = frozenset({"bid", "predict"})
"""Kinds of choices that come before the tricks."""


class BotErrors(NamedTuple):
    """Points that one house bot loses per decision."""

    game: str
    seats: int
    bot: str
    decisions: int
    exact: int
    """Number of decisions for which all worlds were solved."""
    cost: float
    """Mean points lost per decision."""
    error: float
    """Standard error of `cost`."""
    wrong: float
    """Share of decisions with a significant cost, which is more than two standard errors."""


def decisions(game: str, seats: int, cards: int, seed: int) -> Iterator[tuple[Any, Sequence[int], bytes]]:
    """Yield view, legal actions and random bytes for the decisions near the ends of a match's rounds."""
    key, bots = sha256(f"{game} {seats} {seed}".encode()).digest(), HOUSE_BOTS[game]
    state: Any = GAMES[game].new(seats, SeededDecks(key))
    for number in count():
        if (seat := state.player) == OVER:
            return
        view, legal = state.view(seat), state.legal(seat)
        chance = sha256(key + number.to_bytes(4, "big")).digest()
        first = GAMES[game].actions[legal[0]].kind in FIRST
        if not first and len(legal) > 1 and max(len(state.view(each).hand) for each in range(seats)) <= cards:
            yield view, legal, chance
        bot = bots[(seat + seed) % len(bots)]
        state.apply(bot.decide(view, legal, chance), seat)


def measure(game: str, seats: int, cards: int, wanted: int) -> list[BotErrors]:
    """Measure every house bot of a game at one table size."""
    solver, chance = EndingSolver(RENDERERS[game].worth), Random(1)
    found: dict[str, list[tuple[float, bool]]] = {bot.name: [] for bot in named_bots(game)}
    exact = 0
    every = (each for seed in count() for each in islice(decisions(game, seats, cards, seed), 40))
    for view, legal, drawn in islice(every, wanted):
        expected = expected_costs(GAMES[game], view, solver, chance, most=MOST, drawn=DRAWN)
        exact += expected.exact
        for bot in named_bots(game):
            action = bot.decide(view, legal, drawn)
            cost = expected.costs[action]
            found[bot.name].append((cost, cost > max(DUST, 2 * expected.errors[action])))
    rows = []
    for name, lost in found.items():
        costs = [cost for cost, _ in lost]
        error = stdev(costs) / sqrt(len(costs))
        rows.append(BotErrors(game, seats, name, wanted, exact, mean(costs), error, mean(surely for _, surely in lost)))
    return rows


@click.command(help=(__doc__ or "").replace("    python", "\b\n    python"))
@click.option(
    "--decisions",
    "wanted",
    type=click.IntRange(2),
    default=200,
    show_default=True,
    help="Decisions to measure at each table size.",
)
@click.option("--game", "games", type=click.Choice([*GAMES]), multiple=True, help="Only this game; repeatable.")
@click.option("--seats", "sizes", type=int, multiple=True, default=(2, 4), show_default=True)
@click.option(
    "--cards",
    type=click.IntRange(1, 3),
    default=2,
    show_default=True,
    help="Maximum number of cards in the largest hand.",
)
@click.option("--json", "as_json", is_flag=True)
def main(wanted: int, games: Sequence[str], sizes: Sequence[int], cards: int, as_json: bool) -> None:
    """Measure the house bots' losses and print them."""
    chosen = games or tuple(GAMES)
    for name in chosen:
        for size in sizes:
            if size not in GAMES[name].seats:
                allowed = GAMES[name].seats
                raise click.BadParameter(f"{name} is for {allowed[0]} to {allowed[-1]} seats, not {size}")
    rows = [row for name in chosen for size in sizes for row in measure(name, size, cards, wanted)]
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=1))
        return
    table = Table(title=f"Points that house bots lose a decision, {cards} cards in hand at most")
    for heading in ("", "seats", "bot", "decisions", "of these exact", "lost", "surely wrong"):
        table.add_column(heading, justify="left" if heading in ("", "bot") else "right")
    for row in rows:
        lost = f"{row.cost:.2f} ± {1.96 * row.error:.2f}"
        counts = str(row.decisions), str(row.exact)
        table.add_row(row.game, str(row.seats), row.bot, *counts, lost, f"{100 * row.wrong:.0f} %")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
