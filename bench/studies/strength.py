"""Strength of every house bot by table size, relative to the strongest bot without search, on the same deals.

    python -m bench.studies.strength [--deals N] [--game NAME] [--seats N] [--bot NAME] [--json]

The reference is the strongest house bot that does not search. Every deal is played twice: once with the reference in
all seats, and once with the measured bot in one seat. The bot's strength is the growth of this seat's lead over the
mean of the others, in points per match. Seats alternate. A table for two plays every deal with both seatings. Errors
are standard errors over deals. The table also shows the share of opponents that the bot beats, with ties as half (at a
table for two, the share of matches won), and the processor time per choice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from math import sqrt
from statistics import mean, stdev
from time import process_time
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from arena.house import HOUSE_BOTS, HouseBot, named_bots
from engine.deal import SeededDecks
from engine.game import OVER, SeatView
from engine.points import points_above
from engine.registry import GAMES


class Strength(NamedTuple):
    """The result of one bot at one table size."""

    game: str
    seats: int
    bot: str
    deals: int
    better: float
    """Mean lead over the other seats, minus the reference's lead in the same seat, in points per match."""
    error: float
    """Standard error of `better`."""
    ahead: float
    """Share of opponents beaten; a tie counts as half."""
    ahead_error: float
    ms: float
    """Processor time per choice, in milliseconds."""


class _Timed:
    """Bot wrapper that adds up the processor time of a bot's choices."""

    def __init__(self, bot: HouseBot) -> None:
        self._bot = bot
        self.seconds, self.choices = 0.0, 0

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Choose as the bot does, and add the time to the total."""
        began = process_time()
        action = self._bot.decide(view, legal, chance)
        self.seconds += process_time() - began
        self.choices += 1
        return action


def scores(game: str, players: Sequence[HouseBot | _Timed], key: bytes) -> Sequence[int]:
    """Play a match and return the scores. Bots are not called if only one action is legal."""
    state, choices = GAMES[game].new(len(players), SeededDecks(key)), 0
    while (seat := state.player) != OVER:
        legal, choices = state.legal(seat), choices + 1
        chance = sha256(key + choices.to_bytes(4, "big")).digest()
        action = legal[0] if len(legal) == 1 else players[seat].decide(state.view(seat), legal, chance)
        state.apply(action, seat)
    return state.scores


def measure(bot: HouseBot, seats: int, deals: int) -> Strength:
    """Measure a bot on `deals` deals."""
    reference, timed = HOUSE_BOTS[bot.game][-1], _Timed(bot)
    better, ahead = list[float](), list[float]()
    for deal in range(deals):
        key = sha256(f"{bot.game} {seats} {deal}".encode()).digest()
        before = scores(bot.game, [reference] * seats, key)
        more, behind = list[float](), list[float]()
        for own in range(seats) if seats == 2 else (deal % seats,):
            after = scores(bot.game, [timed if seat == own else reference for seat in range(seats)], key)
            more.append(points_above(after, own) - points_above(before, own))
            others = [*after[:own], *after[own + 1 :]]
            behind += [(after[own] > other) + (after[own] == other) / 2 for other in others]
        better.append(mean(more))
        ahead.append(mean(behind))
    errors = [stdev(each) / sqrt(deals) for each in (better, ahead)]
    ms = 1e3 * timed.seconds / timed.choices
    return Strength(bot.game, seats, bot.name, deals, mean(better), errors[0], mean(ahead), errors[1], ms)


@click.command(help=(__doc__ or "").replace("    python", "\b\n    python"))
@click.option("--deals", type=click.IntRange(2), default=60, show_default=True)
@click.option("--game", "games", type=click.Choice([*GAMES]), multiple=True, help="Only this game; repeatable.")
@click.option("--seats", type=int, multiple=True, help="Only this number of seats; repeatable.")
@click.option("--bot", "bots", multiple=True, help="One bot only, such as house-search.")
@click.option("--json", "as_json", is_flag=True)
def main(deals: int, games: Sequence[str], seats: Sequence[int], bots: Sequence[str], as_json: bool) -> None:
    """Measure the bots. Print each row as soon as it is done."""
    rows = list[Strength]()
    for name in games or GAMES:
        for bot in named_bots(name):
            for size in GAMES[name].seats:
                if size in (seats or GAMES[name].seats) and bot.name in (bots or [bot.name]):
                    rows.append(measure(bot, size, deals))
                    click.echo(f"{name}, {size} seats, {bot.name}: {rows[-1].better:+.1f}", err=True)
    if not rows:
        raise click.UsageError(
            f"no house bot of that name and table size: {', '.join(bots)} {', '.join(map(str, seats))}"
        )
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=1))
        return
    table = Table(title="House bots beside the strongest that does not search, one of them at its table")
    for heading in ("", "seats", "bot", "points a match more", "left behind", "ms a choice"):
        table.add_column(heading, justify="left" if heading in ("", "bot") else "right")
    for row in rows:
        better, ahead = f"{row.better:+.1f} ± {row.error:.1f}", f"{100 * row.ahead:.1f} ± {100 * row.ahead_error:.1f} %"
        table.add_row(row.game, str(row.seats), row.bot, better, ahead, f"{row.ms:.3f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
