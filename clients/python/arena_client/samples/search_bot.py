"""A bot that searches: it plays sampled games that fit its view to the end, and takes the choice of the highest value.

The counter selects the choices to try. `playouts` and its modules for each game play the rounds to their end.
"""

import random
import time
from collections.abc import Sequence

from arena_client import GAMES, Bot, Decision
from arena_client.command import main
from arena_client.engine import seat_view
from arena_client.samples.counter_bot import outlook_of
from arena_client.samples.playouts_nullern import NullernPlayouts
from arena_client.samples.playouts_sixth_sense import SixthSensePlayouts

PLAYOUTS = {"nullern": NullernPlayouts, "sixth_sense": SixthSensePlayouts}
# The number of choices to try and the work for each, by kind of choice.
CHOICES = {"bid": (3, 3.0), "play": (4, 6.0), "block": (4, 6.0)}
# Numbers of sampled games per unit of work; after each round of games the worse half of the choices is dropped.
ROUNDS = (4, 4, 8)


class Search:
    """The search results so far for the choices of one decision."""

    def __init__(self, decision: Decision) -> None:
        view, kind, outlook = decision.view, decision.actions[0].kind, outlook_of(decision.game, decision.view)
        most, work = CHOICES.get(kind if outlook else "", (1, 0.0))
        self.work = work if kind == "bid" or not outlook else work / (1 + len(view.hand))
        worths = {n: outlook.worth_of(decision.game.actions[n]) if outlook else 0.0 for n in decision.legal}
        self.open = sorted(worths, key=lambda number: (-worths[number], random.random()))[:most]  # noqa: S311  # no secret
        if len(self.open) > 1:
            self.playouts = PLAYOUTS[decision.game.name](seat_view(view))
            word = self.playouts.word * len(view.hand) * self.playouts.point
            self.total = {number: word * worths[number] for number in self.open}

    def look(self, games: int) -> None:
        """Play the same games to the end after each remaining choice, and keep the better half of the choices."""
        for _ in range(max(1, int(games * self.work))):
            for number, worth in self.playouts.worths(self.open).items():
                self.total[number] += worth
        self.open = sorted(self.open, key=lambda number: -self.total[number])[: max(2, len(self.open) // 2)]


class SearchBot(Bot):
    """Bot that searches all open decisions in turn, as long as there is time."""

    name, games = "search", GAMES

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """Return the best choices after all games, or when half of `soft_ms` plus 1 % of `bank_ms` has passed."""
        spare = min([0.5 * each.soft_ms + 0.01 * each.bank_ms for each in decisions], default=0) / 1000
        until, searches = time.monotonic() + spare, [Search(decision) for decision in decisions]
        for games, search in [(games, each) for games in ROUNDS for each in searches if len(each.open) > 1]:
            if time.monotonic() < until:
                search.look(games)
        return [search.open[0] for search in searches]


if __name__ == "__main__":
    main(SearchBot, __doc__)
