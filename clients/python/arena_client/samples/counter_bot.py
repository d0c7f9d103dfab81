"""A bot that counts cards: it estimates the value of the round after each choice, considering the unseen cards.

Each game has its own module for that: `counter_sixth_sense` and `counter_nullern`.
"""

import random

from arena_client import GAMES, Bot, Catalog, Decision, NullernView, SixthSenseView, View
from arena_client.command import main
from arena_client.samples import counter_nullern, counter_sixth_sense


class CounterBot(Bot):
    """A bot that plays for the highest expected score of the round."""

    name = "counter"
    games = GAMES

    def decide(self, decision: Decision) -> int:
        """Choose the action with the highest expected score, or a random action in a game whose
        cards it cannot count.
        """
        outlook = outlook_of(decision.game, decision.view)
        if outlook is None:
            return random.choice(decision.legal)  # noqa: S311  # a game, no secret
        return max(decision.legal, key=lambda number: outlook.worth_of(decision.game.actions[number]))


def outlook_of(game: Catalog, view: View) -> counter_nullern.Outlook | counter_sixth_sense.Outlook | None:
    """Return the outlook of the round; None for a game whose cards the bot cannot count."""
    if isinstance(view, NullernView):
        return counter_nullern.Outlook(game, view)
    if isinstance(view, SixthSenseView):
        return counter_sixth_sense.Outlook(game, view)
    return None


if __name__ == "__main__":
    main(CounterBot, __doc__)
