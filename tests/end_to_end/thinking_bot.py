"""A bot that sleeps over every decision and then plays the first legal action, for one match.

Arguments: address, token file, seconds.
"""

import sys
import time

from arena_client import Bot, Decision, run


class ThinkingBot(Bot):
    """A bot that sleeps."""

    name = "thinker"
    games = ("sixth_sense",)

    def decide(self, decision: Decision) -> int:
        """Return the first legal action after a while."""
        time.sleep(float(sys.argv[3]))
        return decision.legal[0]


run(ThinkingBot(), sys.argv[1], token_file=sys.argv[2], matches=1)
