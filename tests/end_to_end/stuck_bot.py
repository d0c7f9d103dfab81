"""A bot that plays until it owes a choice of a given kind, reports it, and hangs. Arguments: address, token, kind."""

import sys
import time

from arena_client import Bot, Decision, run


class StuckBot(Bot):
    """A bot that hangs at a kind of choice."""

    name = "stuck"

    def decide(self, decision: Decision) -> int:
        """Return the first legal action of any other kind."""
        if decision.actions[0].kind == sys.argv[3]:
            print("stuck", flush=True)
            time.sleep(1000)
        return decision.legal[0]


run(StuckBot(), sys.argv[1], token=sys.argv[2], verbose=False)
