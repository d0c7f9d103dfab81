"""A bot that thinks for a moment and plays the last legal action, until it is stopped.

Arguments: address, name, token file, matches at once, milliseconds for a decision (2).
"""

import sys
import time

from arena_client import Bot, Decision, run


class SlowBot(Bot):
    """A bot that thinks for a given time."""

    def decide(self, decision: Decision) -> int:
        """Return the last legal action after a while."""
        time.sleep(float(milliseconds) / 1000)
        return decision.legal[-1]


address, name, token_file, capacity, milliseconds = [*sys.argv[1:], "2"][:5]
run(SlowBot(name=name, capacity=int(capacity)), address, token_file=token_file)
