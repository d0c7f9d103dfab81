"""The shortest complete bot: it plays any legal action, whatever the game."""

import random

from arena_client import GAMES, Bot, Decision
from arena_client.command import main


class RandomBot(Bot):
    """Bot that plays at random."""

    name = "random"
    games = GAMES

    def decide(self, decision: Decision) -> int:
        """Choose one of the legal actions."""
        return random.choice(decision.legal)  # noqa: S311  # a game, no secret


if __name__ == "__main__":
    main(RandomBot, __doc__)
