"""A seeded bot in its own process. Its choices depend only on its seed and the view.

It records every question before it answers, and every result. Each record is a single write, so that the judge never
reads half a record.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from arena_client import Bot, Decision, MatchReport, Notice, connection, run
from arena_client.v1.play_pb2 import NoticeKind

GAMES = ("sixth_sense", "nullern")


def choice(seed: str, view: bytes, legal: Sequence[int]) -> int:
    """Return the action that a bot with this seed chooses."""
    digest = hashlib.sha256(f"{seed} {list(legal)} ".encode() + view).digest()
    return legal[int.from_bytes(digest[:8]) % len(legal)]


def fingerprint(view: bytes, legal: Sequence[int]) -> str:
    """Return a digest of a question."""
    return hashlib.sha256(f"{list(legal)} ".encode() + view).hexdigest()[:16]


class CrashBot(Bot):
    games = GAMES

    def __init__(self, name: str, seed: str, capacity: int, thinks: float, notes: Path) -> None:
        super().__init__(name=name, capacity=capacity)
        self._seed = seed
        self._thinks = thinks
        self._notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def decide_many(self, decisions: Sequence[Decision]) -> Iterable[int | None]:
        time.sleep(self._thinks)  # so that a match outlives several servers
        return super().decide_many(decisions)

    def decide(self, decision: Decision) -> int:
        view = decision.view.SerializeToString(deterministic=True)
        action = choice(self._seed, view, decision.legal)
        self._note("asked", decision.match_id, decision.decision_id, fingerprint(view, decision.legal), action)
        return action

    def on_match_end(self, report: MatchReport) -> None:
        places, scores = list(report.places), list(report.scores)
        self._note("told", report.match_id, report.seat, scores, places, report.interrupted)

    def on_notice(self, notice: Notice) -> None:
        self._note("noticed", notice.match_id, NoticeKind.Name(notice.kind), notice.text)

    def _note(self, *words: Any) -> None:
        os.write(self._notes, json.dumps(words).encode() + b"\n")


def main(address: str, name: str, seed: str, capacity: str, thinks: str, directory: str) -> None:
    # servers die every second or two here; after a bot's usual pauses of up to half a minute, no match would be left to
    # kill
    connection.LONGEST_WAIT = 0.3
    bot = CrashBot(name, seed, int(capacity), float(thinks), Path(directory, f"{name}.notes"))
    run(bot, address, token_file=Path(directory, f"{name}.token"))


if __name__ == "__main__":
    main(*sys.argv[1:])
