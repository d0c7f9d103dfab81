"""Cost of a house bot's choice for the server: computed in its own thread, and by a worker process.

    python -m studies.house [--json]

The questions are those of whole four-seat games between house bots, without the random ones. Shown is processor time of
the server's thread a choice, the best of several rounds: asked one at a time, each after the last answer, and in
batches. A baseline replays the deals of a whole four-seat game once; its time is the worker's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import count
from math import inf
from time import perf_counter, process_time
from typing import Final, NamedTuple

import click
import trio
from rich.console import Console
from rich.table import Table

from arena.house import THINKERS, HouseBot
from arena.match.effects import Ask
from arena.server.runtime.turns import Turns
from arena.server.workers.pool import WorkerPool
from engine.deal import SeededDecks
from engine.game import OVER
from engine.registry import GAMES

SEATS: Final = 4
ROUNDS: Final = 5
SIZES: Final = (1, 16, 64)
"""Questions asked at once."""
CHANCE: Final = bytes(32)


class Figures(NamedTuple):
    """Figures of one game."""

    here: float
    """Microseconds of the server's thread a choice, without a worker."""
    worker: Sequence[float]
    """Microseconds of the server's thread a choice with a worker, by batch size."""
    wait: Sequence[float]
    """Microseconds from asking a batch to the last of its answers, by batch size."""
    baseline: float
    """Milliseconds of a baseline."""


def questions(game: str) -> list[tuple[HouseBot, Ask]]:
    """List the decisions of a game with more than one legal action."""
    bots = [bot for bot in THINKERS if bot.game == game]
    state, found, numbers = GAMES[game].new(SEATS, SeededDecks(CHANCE)), list[tuple[HouseBot, Ask]](), count(1)
    while (seat := state.player) != OVER:
        bot, ask = bots[seat % len(bots)], Ask(seat, next(numbers), state.legal(seat), state.view(seat), 0, 0)
        if len(ask.legal) > 1:
            found.append((bot, ask))
        state.apply(bot.decide(ask.view, ask.legal, CHANCE), seat)
    return found


async def batch(pool: WorkerPool, asked: Sequence[tuple[HouseBot, Ask]]) -> None:
    """Ask all questions at once and wait for all answers."""
    done, left = trio.Event(), len(asked)

    def take(ask: Ask, action: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set()

    for bot, ask in asked:
        if (action := pool.choose(bot, 0, ask, "play", CHANCE, take)) is not None:
            take(ask, action)
    await done.wait()


async def rounds(pool: WorkerPool, asked: Sequence[tuple[HouseBot, Ask]], size: int) -> tuple[float, float]:
    """Measure microseconds of processor time a choice, and of waiting a batch."""
    busy = waited = inf
    batches = [asked[start : start + size] for start in range(0, len(asked), size)]
    for _ in range(ROUNDS):
        busy_since, since = process_time(), perf_counter()
        for each in batches:
            await batch(pool, each)
        busy = min(busy, (process_time() - busy_since) / len(asked))
        waited = min(waited, (perf_counter() - since) / len(batches))
    return 1e6 * busy, 1e6 * waited


async def measure(game: str) -> Figures:
    """Measure all figures of one game."""
    asked, strongest = questions(game), next(bot for bot in reversed(THINKERS) if bot.game == game)
    turns = Turns(lambda: None, 0.0)
    here, _ = await rounds(WorkerPool(0, turns), asked, SIZES[-1])
    pool = WorkerPool(1, turns, -1.0)  # every choice goes to the worker
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pool.run)
        nursery.start_soon(turns.run)
        baseline = partial(pool.baseline, GAMES[game], SEATS, {}, CHANCE, None, 1, strongest)
        await baseline()  # the worker is up
        figures = [await rounds(pool, asked, size) for size in SIZES]
        since = perf_counter()
        await baseline()
        took = perf_counter() - since
        nursery.cancel_scope.cancel()
    busy, waited = zip(*figures, strict=True)
    return Figures(here, busy, waited, 1e3 * took)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(as_json: bool) -> None:
    """Measure what house bots cost."""
    games = {name: trio.run(measure, name) for name in GAMES}
    if as_json:
        click.echo(json.dumps({name: figures._asdict() for name, figures in games.items()}, indent=2))
        return
    table = Table(title="A choice of a house bot: microseconds of the server's thread, and until it is there")
    for heading in ("", "here", *(f"worker, {size} at once" for size in SIZES), "a baseline"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, (here, busy, waited, baseline) in games.items():
        cells = [f"{own:.1f} ({all_of_it:,.0f})" for own, all_of_it in zip(busy, waited, strict=True)]
        table.add_row(name, f"{here:.1f}", *cells, f"{baseline:.0f} ms")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
