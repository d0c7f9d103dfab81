"""A bot that searches: it plays the round on in games that its seat could be in, and takes what brings most there.

The counter names the choices worth a look; how a round may go on is in `playouts` and in a module a game beside it."""

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
CHOICES = {"bid": (3, 2.0, 16), "play": (4, 6.0, 0), "block": (4, 6.0, 0)}
"""By kind: choices to look at, the work of it (of a play by card in hand), and games that the counter's word is."""
ROUNDS = (4, 4, 8)  # imagined games for the least work; after each round the worse half of the choices is given up
SOFT, BANK = 0.5, 0.01  # what part of the time until the bank is used, and of the bank, may be taken


class Search:
    """What is known so far of the choices of one decision."""

    def __init__(self, decision: Decision) -> None:
        kind, outlook = decision.actions[0].kind, outlook_of(decision.game, decision.view)
        most, self.work, word = CHOICES.get(kind if outlook else "", (1, 0.0, 0))
        self.cards = 1 if kind == "bid" else 1 + len(decision.view.hand)
        worths = {n: outlook.worth_of(decision.game.actions[n]) if outlook else 0.0 for n in decision.legal}
        self.open = sorted(worths, key=lambda number: (-worths[number], random.random()))[:most]  # noqa: S311  # no secret
        self.total = {number: word * worths[number] for number in self.open}
        if most > 1:
            self.playouts = PLAYOUTS[decision.game.name](seat_view(decision.view))

    def look(self, games: int) -> None:
        """Play on after each choice that is left, in the same games for all, and keep the better half."""
        for _ in range(max(1, int(games * self.work / self.cards)) if len(self.open) > 1 else 0):
            for number, worth in self.playouts.worths(self.open).items():
                self.total[number] += worth
        self.open = sorted(self.open, key=lambda number: -self.total[number])[: max(2, len(self.open) // 2)]


class SearchBot(Bot):
    """Looks at all decisions by turns, as long as there is time."""

    name, games = "search", GAMES

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """What is best when all games were played, or when the time is up."""
        spare = min([SOFT * each.soft_ms + BANK * each.bank_ms for each in decisions], default=0) / 1000
        until, searches = time.monotonic() + spare, [Search(decision) for decision in decisions]
        for games, search in [(games, search) for games in ROUNDS for search in searches]:
            if time.monotonic() < until:
                search.look(games)
        return [search.open[0] for search in searches]


if __name__ == "__main__":
    main(SearchBot, __doc__)
