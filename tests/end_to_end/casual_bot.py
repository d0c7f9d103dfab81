"""An SDK bot that plays casual matches or accepts challenges until it is stopped.

Arguments: address, name, token file, then any of "casual", "challenges" and "crash" (it raises an error in its first
decision). For each match it prints a line with the match's kind, number and bots.
"""

import sys

from arena_client import Bot, Decision, run
from arena_client.v1.play_pb2 import MatchReport, MatchStart

address, name, token_file, *modes = sys.argv[1:]


class CasualBot(Bot):
    """A bot that plays the first legal action."""

    games = ("nullern",)
    capacity = 2

    def decide(self, decision: Decision) -> int:
        """Return the first legal action, or crash."""
        if "crash" in modes:
            raise RuntimeError("not finished yet")
        return decision.legal[0]

    def on_match_start(self, start: MatchStart) -> None:
        """Print the match."""
        print("start", start.kind, start.match_id, *start.bots, flush=True)

    def on_match_end(self, report: MatchReport) -> None:
        """Print the match's result."""
        print("end", report.kind, report.match_id, "rated" if report.HasField("rating") else "unrated", flush=True)


run(
    CasualBot(name=name),
    address,
    token_file=token_file,
    casual="casual" in modes,
    challenges=[modes[-1]] if modes and modes[-1] not in ("casual", "crash", "challenges") else "challenges" in modes,
)
