"""A worker process as its server sees it: what it is handed, and what it still owes.

The work itself is `arena.house.worker`, the process `arena.processes.helper`; nothing here waits for either.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.house import HouseBot
    from arena.house.question import Question
    from arena.house.selfplay import BaselineRequest, BaselineResult
    from arena.match.effects import Ask
    from arena.processes.helper import Helper

MODULE: Final = "arena.house.worker"
LIMIT: Final = 5.0
"""Seconds after which a worker that owes answers counts as hung."""
REPLAY_LIMIT: Final = 60.0
"""The same of one that only replays deals."""
FAILURES: Final = 2
"""Workers that may end over the same question."""


class Thought(NamedTuple):
    """A question that a worker is to answer, and who wants to know."""

    bot: HouseBot
    match_id: int
    ask: Ask
    question: Question
    later: Callable[[Ask, int], None]
    failures: int = 0
    """Workers that ended while they owed the answer."""


class Errand(NamedTuple):
    """A replay of deals, and who wants to know."""

    request: BaselineRequest
    done: Callable[[BaselineResult], None]
    failures: int = 0


class Worker:
    """One process, with what it owes: one batch of answers and one replay at most."""

    def __init__(self, helper: Helper) -> None:
        self.helper = helper
        self.thoughts: Sequence[Thought] = ()
        self.errand: Errand | None = None
        self._send = helper.channel.send

    @property
    def pid(self) -> int:
        """Process id."""
        return self.helper.pid

    def think(self, thoughts: Sequence[Thought]) -> None:
        """Hand it a batch; it owes none."""
        self.thoughts = thoughts
        self._send([thought.question for thought in thoughts])

    def run(self, errand: Errand) -> None:
        """Hand it a replay; it owes none."""
        self.errand = errand
        self._send(errand.request)

    def patience(self) -> float:
        """Return for how many seconds it may be silent now."""
        if self.thoughts:
            return LIMIT
        return math.inf if self.errand is None else REPLAY_LIMIT
