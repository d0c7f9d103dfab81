"""A bot that plays the last legal action after a moment, until it is stopped.

Arguments: address, name, token file, maximum number of matches at once, milliseconds per decision (2).
"""

import sys
import time

from arena_client import Bot, Decision, run


class SlowBot(Bot):
    """A bot that needs a given time per decision."""

    def decide(self, decision: Decision) -> int:
        """Return the last legal action after the delay."""
        time.sleep(float(milliseconds) / 1000)
        return decision.legal[-1]


address, name, token_file, capacity, milliseconds = [*sys.argv[1:], "2"][:5]
run(SlowBot(name=name, capacity=int(capacity)), address, token_file=token_file)
