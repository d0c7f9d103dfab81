"""Share of a slow bot's tables at which all its opponents are house bots, on a slow clock.

    python -m bench.studies.slow [--game nullern] [--bots 8] [--soft-limit 120] [--seeds 10] [--json]

The pool, pace classes and balances are computed by the server's own code. Time is virtual. The bots think for 5 to 60 s
per decision, spaced in equal ratios, and play endlessly. A decision's time varies log-normally by 30 %. The number of
decisions per seat is that of games between random bots, and the decisions follow one after the other. Each figure is
given twice: with the scheduler's durations for this clock, and with those for a clock of one second.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Sequence
from math import inf
from random import Random
from statistics import fmean, median
from typing import Any, Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from arena.scheduling.candidate import Waiting
from arena.scheduling.clock import RECENT, LadderClock
from arena.scheduling.pace import OwedTime, Pace, settle
from arena.scheduling.pool import Pool
from engine.deal import SeededDecks
from engine.registry import GAMES

QUICKEST, SLOWEST = 5.0, 60.0
"""Seconds per decision of the quickest and the slowest bot."""
VARIATION: Final = 0.3
HOUSE: Final = ("house 1", "house 2", "house 3")
SEATS: Final = 4
SHARE: Final = 0.15
"""The default share of its playing time that a bot may spend waiting for much slower bots."""


class Row(NamedTuple):
    """The shares for one game over all seeds."""

    game: str
    decisions: float
    """Mean number of decisions of a seat in a match."""
    by_clock: float
    """Mean share of tables with one bot and house bots in all other seats."""
    worst: float
    """The largest share for any seed."""
    as_quick: float
    """Mean share with the durations of a clock of one second."""


class SlowBot:
    """A bot that is always ready for another match, up to its capacity."""

    def __init__(self, name: str, seconds: float, pace: Pace) -> None:
        self.name = name
        self.seconds = seconds
        self.pace = pace
        self.since = 0.0
        self.last_length = 0.0
        self.expected: dict[int, tuple[float, float]] = {}
        """The expected end and the expected wait for much slower bots, by match."""


class Hall:
    """A ladder of slow bots in virtual time."""

    def __init__(self, clock: LadderClock, bots: int, decisions: float, capacity: int, seed: int) -> None:
        self.chance = Random(seed)
        self.clock = clock
        self.rules = clock.pace_rules(None, SHARE)
        self.pool: Pool[str] = Pool(HOUSE, self.chance, clock.patience())
        ratio = (SLOWEST / QUICKEST) ** (1 / max(1, bots - 1))
        self.bots = {
            f"bot {number}": SlowBot(f"bot {number}", QUICKEST * ratio**number, Pace(self.rules))
            for number in range(bots)
        }
        self.decisions = decisions
        self.capacity = capacity
        self.now = 0.0
        self.running: list[tuple[float, int, tuple[str, ...], OwedTime]] = []
        self.lengths: deque[float] = deque(maxlen=RECENT)
        self.guests: Counter[int] = Counter()
        """Numbers of tables by the number of their bots that are not house bots."""

    def play(self, tables: int) -> None:
        """Play until the given number of tables has been formed."""
        for bot in self.bots.values():
            self._update(bot)
        while self.guests.total() < tables:
            self._form()
            ends = min((match[0] for match in self.running), default=inf)
            self.now = min(ends, self.pool.next_due(self.now))
            for match in [match for match in self.running if match[0] <= self.now]:
                self.running.remove(match)
                self._end(*match)

    def _form(self) -> None:
        for bot in self.bots.values():
            while not bot.pace.known and not bot.expected:
                self._begin((bot.name, *HOUSE[: SEATS - 1]))
        while (table := self.pool.table(SEATS, self.now)) is not None:
            self._begin(table.bots)

    def _begin(self, names: tuple[str, ...]) -> None:
        number = self.guests.total()
        guests = [self.bots[name] for name in names if name in self.bots]
        self.guests[len(guests)] += 1
        owed, length = OwedTime(len(names)), 0.0
        for seat, name in enumerate(names):
            owed.decisions[seat] = round(self.decisions)
            if name in self.bots:
                seconds = self.decisions * self.bots[name].seconds * self.chance.lognormvariate(0.0, VARIATION)
                owed.times[1 << seat] = round(1e6 * seconds)
                length += seconds
        paces = {guest.name: guest.pace.at(self.now) or 0.0 for guest in guests}
        end = self.now + self.decisions * sum(paces.values())
        for guest in guests:
            slower = sum(pace for pace in paces.values() if self.rules.much_slower(pace, paces[guest.name]))
            guest.expected[number] = (end, self.decisions * slower)
            guest.pace.pay(self.decisions * slower)
            guest.since = self.now
            self._update(guest)
        self.running.append((self.now + length, number, names, owed))

    def _end(self, end: float, number: int, names: Sequence[str], owed: OwedTime) -> None:
        length = sum(owed.times.values()) / 1e6
        paces = [self.bots[name].pace if name in self.bots else None for name in names]
        waits = settle(paces, owed, [True] * len(names), end, self.rules)
        if len(paces) - paces.count(None) > 1:
            self.lengths.append(length)
            self.pool.patience = self.clock.patience(median(self.lengths))
        for name, waited in zip(names, waits, strict=True):
            if (bot := self.bots.get(name)) is not None:
                bot.pace.pay(-bot.expected.pop(number)[1])
                if not self.pool.has_room(name):
                    bot.since = end
                bot.pace.earn(length, waited)
                bot.last_length = length
        for name in names:
            if (bot := self.bots.get(name)) is not None:
                self._update(bot)

    def _update(self, bot: SlowBot) -> None:
        if not bot.pace.known:
            return
        room = self.capacity - len(bot.expected)
        self.pool.update(
            Waiting(
                bot.name,
                bot.name,
                bot.since,
                room,
                last_length=bot.last_length,
                pace_class=self.rules.pace_class(bot.pace.at(self.now)),
                patient=bot.pace.balance > 0,
                free_at=-inf if room else min(end for end, _ in bot.expected.values()),
                held_up=not room and all(wait > 0 for _, wait in bot.expected.values()),
                tables=len(bot.expected),
            )
        )


def alone(clock: LadderClock, bots: int, decisions: float, capacity: int, tables: int, seed: int) -> float:
    """Return the share of tables with one bot and house bots in all other seats."""
    hall = Hall(clock, bots, decisions, capacity, seed)
    hall.play(tables)
    return hall.guests[1] / hall.guests.total()


def decisions_a_seat(game: str, games: int = 20) -> float:
    """Return the mean number of decisions of a seat in games between random bots."""
    chance, made = Random(1), 0
    for number in range(games):
        state = GAMES[game].new(SEATS, SeededDecks(number.to_bytes(32, "big")))
        while (player := state.player) >= 0:
            state.apply(chance.choice(state.legal(player)), player)
            made += 1
    return made / games / SEATS


def measured(game: str, soft_limit: float, bots: int, capacity: int, tables: int, seeds: int) -> Row:
    """Measure one game."""
    decisions = decisions_a_seat(game)

    def shares(clock: LadderClock) -> list[float]:
        return [alone(clock, bots, decisions, capacity, tables, seed) for seed in range(seeds)]

    by_clock = shares(LadderClock(soft_limit))
    return Row(game, decisions, fmean(by_clock), max(by_clock), fmean(shares(LadderClock())))


@click.command(help="Measure how often slow bots play with house bots only.")
@click.option("--game", "games", multiple=True, type=click.Choice([*GAMES]), help="Only this game; repeatable.")
@click.option("--bots", default=8, show_default=True, type=click.IntRange(1), help="Bots of 5 to 60 s a decision.")
@click.option("--capacity", default=1, show_default=True, type=click.IntRange(1), help="Matches of a bot at once.")
@click.option("--soft-limit", default=120.0, show_default=True, type=click.FloatRange(1), help="Seconds a decision.")
@click.option("--tables", default=400, show_default=True, type=click.IntRange(1), help="Tables for each seed.")
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(1), help="Runs of each game.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    games: tuple[str, ...], bots: int, capacity: int, soft_limit: float, tables: int, seeds: int, as_json: bool
) -> None:
    """Print the table."""
    rows = [measured(game, soft_limit, bots, capacity, tables, seeds) for game in games or GAMES]
    if as_json:
        found: list[dict[str, Any]] = [each._asdict() for each in rows]
        print(json.dumps(found))
        return
    table = Table(title="Tables with one bot and house bots only")
    for heading in ("game", "decisions a seat", "by the clock", "worst seed", "as on a clock of 1 s"):
        table.add_column(heading)
    for each in rows:
        shares = [f"{share:.0%}" for share in (each.by_clock, each.worst, each.as_quick)]
        table.add_row(each.game, f"{each.decisions:.0f}", *shares)
    Console().print(table)


if __name__ == "__main__":
    main()
