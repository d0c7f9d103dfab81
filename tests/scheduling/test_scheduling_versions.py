"""A bot that names another version before each match gets the same seats as a bot that never does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from arena.ladder.columns import Columns
from arena.ladder.estimates import estimates
from arena.ladder.events import Entrant, MatchResult, Node
from arena.ladder.fitted import ladder
from arena.scheduling.candidate import Waiting
from arena.scheduling.information_gain import MatchValues, match_values
from arena.scheduling.pool import Pool

HOUSE: Final = ("house-a", "house-b", "house-c")
HONEST: Final = tuple(f"honest-{number}" for number in range(11))
EGOIST: Final = "egoist"
SEATS: Final = 4
MATCHES: Final = 700
FITTED: Final = 50
"""Number of matches between two fits."""


class Evening:
    """Bots of equal strength that all wait for the next table. Tables are formed one after the other, with occasional
    fits.
    """

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.pool: Pool[str] = Pool(HOUSE, self.chance)
        self.values: MatchValues[str] = MatchValues()
        self.bots: dict[Node, str] = {}
        self.newest: dict[str, Node] = {}
        self.results: list[MatchResult] = []
        self.pending: Counter[str] = Counter()
        self.seats: dict[str, Counter[str]] = {bot: Counter() for bot in (*HONEST, EGOIST)}
        """For each bot, the number of its tables with each of the other bots."""

    def node(self, bot: str) -> Node:
        if bot not in self.newest or bot == EGOIST:
            node = Node(len(self.bots) + 1)
            self.bots[node] = bot
            self.newest[bot] = node
        return self.newest[bot]

    def play(self) -> None:
        for second in range(MATCHES):
            for bot in (*HONEST, EGOIST):
                self.pool.update(Waiting(bot, bot, float(second), 1, self.values.of(bot), self.pending[bot]))
            table = self.pool.table(SEATS, second + 0.5)
            assert table is not None
            self.over(table.bots)

    def over(self, bots: Sequence[str]) -> None:
        number = len(self.results) + 1
        places = tuple(self.chance.sample(range(1, SEATS + 1), SEATS))
        nodes = tuple(self.node(bot) for bot in bots)
        self.results.append(MatchResult(number, number, nodes, places, (True,) * SEATS))
        for bot in set(bots) - set(HOUSE):
            self.pending[bot] += 1
            self.seats[bot].update(other for other in bots if other != bot)
        if number % FITTED == 0:
            newest = set(self.newest.values())
            parents: dict[str, Node] = {}
            entrants = []
            for node, bot in self.bots.items():
                entrants.append(Entrant(node, parents.get(bot), bot in HOUSE, node in newest))
                parents[bot] = node
            self.values = match_values(estimates(ladder(entrants, Columns.of(self.results)), self.bots))
            self.pending.clear()

    def matches(self, bot: str) -> float:
        return sum(self.seats[bot].values()) / (SEATS - 1)

    def house(self, bot: str) -> float:
        """The share of house bots among its opponents."""
        return sum(self.seats[bot][house] for house in HOUSE) / sum(self.seats[bot].values())


@pytest.mark.parametrize("seed", [1, 2])
def test_another_version_before_each_match_brings_no_other_seats(seed: int) -> None:
    """The newest version's own rating would give it three times as many matches, its shrunk rating 1.65 times as
    many.
    """
    evening = Evening(seed)
    evening.play()
    honest = [evening.matches(bot) for bot in HONEST]
    assert evening.matches(EGOIST) == pytest.approx(sum(honest) / len(honest), rel=0.05)
    houses = [evening.house(bot) for bot in HONEST]
    assert min(houses) <= evening.house(EGOIST) <= max(houses) + 0.01
    met = [evening.seats[EGOIST][bot] / evening.matches(bot) for bot in HONEST]
    assert max(met) - min(met) < 0.15, "whom it meets is nobody's choice"
