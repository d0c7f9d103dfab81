"""Strength of the searching sample bot against a house bot at a table for two, and processor time per choice of both.

    python -m bench.studies.search [--matches N] [--game NAME] [--against NAME] [--json]

The match runner plays every deal twice, with exchanged seats. The share of matches won, with ties as half, has a 95 %
interval over deals. Times are processor times of the bots alone, without the messages between them and the referee. The
time limits are so long that no search is cut short.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import mean, stdev
from time import process_time
from typing import Any, Final, NamedTuple

import click
from arena_client import Decision
from arena_client.samples.search_bot import SearchBot
from rich.console import Console
from rich.table import Table

from arena.house import HOUSE_BOTS, HouseBot
from arena.local.play.players import LocalClientPlayer, LocalHousePlayer, LocalPlayer
from arena.local.play.table import play_game
from engine.game import SeatView
from engine.registry import GAMES

NO_CLOCK: Final = 3_600_000
"""Time limit of the search per decision, in milliseconds: one hour, so that no search is cut short."""
INTERVAL: Final = 1.96


class Figures(NamedTuple):
    """The result of the search in one game."""

    game: str
    against: str
    matches: int
    won: float
    """Share of matches won; a tie counts as half a win."""
    interval: float
    """Half the width of the 95 % interval of `won`."""
    points: float
    """Mean lead over the house bot in points per match."""
    points_interval: float
    search_us: float
    """Processor time per decision in µs, including decisions without a choice."""
    house_us: float

    @property
    def times(self) -> float:
        """The search's processor time as a multiple of the house bot's."""
        return self.search_us / self.house_us


class _Timed:
    """Function wrapper that adds up the processor time of all calls."""

    def __init__(self) -> None:
        self.seconds, self.decisions = 0.0, 0

    def call(self, function: Callable[..., Any], decisions: int, *arguments: object) -> Any:
        began = process_time()
        answer = function(*arguments)
        self.seconds += process_time() - began
        self.decisions += decisions
        return answer

    @property
    def mean_us(self) -> float:
        return 1e6 * self.seconds / self.decisions


class _TimedSearch(SearchBot):
    def __init__(self, timed: _Timed) -> None:
        super().__init__(version="timed")
        self._timed = timed

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        for decision in decisions:
            decision.soft_ms = NO_CLOCK
        answers: list[int] = self._timed.call(super().decide_many, len(decisions), decisions)
        return answers


class _TimedHouse:
    def __init__(self, bot: HouseBot, timed: _Timed) -> None:
        self.name, self.version, self.game = bot.name, bot.version, bot.game
        self._bot, self._timed = bot, timed

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        action: int = self._timed.call(self._bot.decide, 1, view, legal, chance)
        return action


def measure(name: str, against: str, matches: int) -> Figures:
    """Play `matches` matches, rounded up to an even number because each deal is played twice."""
    game, search_time, house_time = GAMES[name], _Timed(), _Timed()
    bot = next(bot for bot in HOUSE_BOTS[name] if bot.name == against)
    players: list[LocalPlayer] = [
        LocalClientPlayer(game, _TimedSearch(search_time)),
        LocalHousePlayer(_TimedHouse(bot, house_time)),
    ]
    won, more = list[float](), list[float]()
    for deal in range(-(-matches // 2)):
        key, ahead = deal.to_bytes(32, "big"), []
        for own in (0, 1):
            scores = play_game(game, {}, key, players if own == 0 else players[::-1], deal + 1).scores
            ahead.append(scores[own] - scores[1 - own])
        won.append(mean((each > 0) + (each == 0) / 2 for each in ahead))
        more.append(mean(ahead))
    scale = INTERVAL / sqrt(len(won))
    figures = len(won) * 2, mean(won), scale * stdev(won), mean(more), scale * stdev(more)
    return Figures(name, against, *figures, search_time.mean_us, house_time.mean_us)


@click.command(help=(__doc__ or "").replace("    python", "\b\n    python"))
@click.option("--matches", type=click.IntRange(3), default=400, show_default=True)
@click.option("--game", "games", type=click.Choice([*GAMES]), multiple=True, help="Only this game; repeatable.")
@click.option("--against", default="house-counter", show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(matches: int, games: Sequence[str], against: str, as_json: bool) -> None:
    """Measure the search and print the figures."""
    for name in games or GAMES:
        if against not in (names := [bot.name for bot in HOUSE_BOTS[name]]):
            raise click.BadParameter(f"{name} has no house bot {against!r}; it has {', '.join(names)}")
    found = [measure(name, against, matches) for name in games or GAMES]
    if as_json:
        click.echo(json.dumps([each._asdict() | {"times": each.times} for each in found], indent=1))
        return
    table = Table(title=f"The sample that searches against {against}, tables for two")
    for heading in ("", "matches", "won", "points more", "µs a decision", "the other's", "times"):
        table.add_column(heading, justify="right" if heading else "left")
    for each in found:
        table.add_row(
            each.game,
            str(each.matches),
            f"{100 * each.won:.1f} ± {100 * each.interval:.1f} %",
            f"{each.points:+.1f} ± {each.points_interval:.1f}",
            f"{each.search_us:,.0f}",
            f"{each.house_us:,.0f}",
            f"{each.times:.0f}",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
