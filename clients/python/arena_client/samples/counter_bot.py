"""A bot that counts cards: what is the round likely to be worth after each choice, given the cards still out?

Two modules work that out, one a game: `counter_sixth_sense` and `counter_nullern`.
"""

from arena_client import Bot, Decision, NullernView
from arena_client.command import main
from arena_client.samples import counter_nullern, counter_sixth_sense


class CounterBot(Bot):
    """Plays for the highest expected score of the round."""

    name = "counter"
    games = ("sixth_sense", "nullern")

    def decide(self, decision: Decision) -> int:
        """The action after which the round is worth most."""
        game, view = decision.game, decision.view
        outlook = (
            counter_nullern.Outlook(game, view)
            if isinstance(view, NullernView)
            else counter_sixth_sense.Outlook(game, view)
        )
        return max(decision.legal, key=lambda number: outlook.worth_of(game.actions[number]))


if __name__ == "__main__":
    main(CounterBot, __doc__)
