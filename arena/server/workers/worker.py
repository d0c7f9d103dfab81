"""A worker process as the server sees it: its tasks and open answers.

The work itself is in `arena.house.worker`, the process in `arena.processes.helper`. Nothing here waits for either.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.house import HouseBot
    from arena.house.selfplay import BaselineRequest, BaselineResult, Question
    from arena.match.effects import Ask
    from arena.processes.helper import Helper

MODULE: Final = "arena.house.worker"
LIMIT: Final = 5.0
"""Seconds after which a worker that owes answers counts as hung."""
REPLAY_LIMIT: Final = 60.0
"""Seconds after which a worker that only replays deals counts as hung."""
FAILURES: Final = 2
"""Number of workers that may die during the same question."""


class Thought(NamedTuple):
    """A question for a worker, with the callback for its answer."""

    bot: HouseBot
    match_id: int
    ask: Ask
    question: Question
    later: Callable[[Ask, int], None]
    failures: int = 0
    """Number of workers that died during this question."""


class Errand(NamedTuple):
    """A replay of deals, with the callback for its result."""

    request: BaselineRequest
    done: Callable[[BaselineResult], None]
    failures: int = 0


class Worker:
    """One process with its open tasks: at most one batch of questions and one replay."""

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
        """Send the worker a batch of questions. The worker must not have another batch."""
        self.thoughts = thoughts
        self._send([thought.question for thought in thoughts])

    def run(self, errand: Errand) -> None:
        """Send the worker a replay. The worker must not have another replay."""
        self.errand = errand
        self._send(errand.request)

    def patience(self) -> float:
        """Return the number of seconds for which the worker may currently be silent."""
        if self.thoughts:
            return LIMIT
        return math.inf if self.errand is None else REPLAY_LIMIT
