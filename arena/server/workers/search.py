"""The process in which house bots search, with one choice at a time and a low priority.

It starts when a bot that searches may get a seat. No other house bot waits for it. If it dies or hangs, the next
process makes the choice. If two processes die during a choice, or none starts, the choice is the first legal action.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog
import trio

from arena.house.selfplay import Answer
from arena.processes.helper import HelperFailed, helper, keep
from arena.processes.launch import give_way
from arena.server.runtime.turns import Turns
from arena.server.workers.worker import FAILURES, MODULE, Thought, Worker

YIELDING: Final = 5
"""The process's `nice` value. Bots wait for searches, so fits of ladders have an even lower priority."""
LIMIT: Final = 20.0
"""Number of seconds after which a search counts as hung, and maximum wait for a new process. The limit is generous,
because the process has a low priority.
"""
FEW: Final = 2
"""Maximum number of queued choices at which a further choice still starts soon."""

log = structlog.get_logger(__name__)


class SearchWorker:
    """One search process with its unanswered questions."""

    def __init__(self, turns: Turns, tell: Callable[[Thought, Answer], None]) -> None:
        """`tell` delivers an answer."""
        self.spent = 0.0
        """Total wall-clock time of all choices so far, in seconds."""
        self.down = False
        """True if the latest attempt to start the process failed."""
        self._turns = turns
        self._tell = tell
        self._worker: Worker | None = None
        self._thoughts: deque[Thought] = deque()
        self._handed = 0.0
        self._wanted = trio.Event()
        self._nursery: trio.Nursery | None = None

    @property
    def up(self) -> int:
        """Number of running processes, 0 or 1."""
        return int(self._worker is not None)

    def ready(self) -> bool:
        """Return whether the process would start a new choice soon. Start the process if it is not running."""
        self._wanted.set()
        return self._worker is not None and len(self._thoughts) <= FEW

    async def run(self) -> None:
        """Run the process until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(keep, self._run_one)

    def think(self, thought: Thought) -> None:
        """Request a choice, which is delivered in a later turn."""
        self._thoughts.append(thought)
        self._wanted.set()
        if self._worker is None:
            self._give_up_later()
        self._hand_over()

    def _hand_over(self) -> None:
        worker = self._worker
        if worker is not None and not worker.thoughts and self._thoughts:
            self._handed = trio.current_time()
            worker.think((self._thoughts.popleft(),))

    def _heard(self, messages: list[Any]) -> None:
        """Deliver the choices in messages from the process."""
        worker = self._worker
        assert worker is not None, "it is running"
        with self._turns:
            for answers in messages:
                thoughts, worker.thoughts = worker.thoughts, ()
                self.spent += trio.current_time() - self._handed
                for thought, given in zip(thoughts, answers, strict=True):
                    self._tell(thought, given)
            self._hand_over()

    def _patience(self) -> float:
        worker = self._worker
        return LIMIT if worker is not None and worker.thoughts else math.inf

    async def _run_one(self) -> bool:
        """Start the process when it is needed, and run it until it ends. Return whether it was ever ready."""
        await self._wanted.wait()
        try:
            async with helper(MODULE) as process:
                give_way(YIELDING, process.pid)
                worker = self._worker = Worker(process)
                self.down = False
                self._hand_over()
                try:
                    wrong = await process.channel.run(self._heard, self._patience)
                finally:
                    self._worker = None
                if wrong:
                    process.kill()
        except HelperFailed as error:
            log.error("a worker cannot be started", error=str(error))
            self.down = True
            self._give_up()
            return False
        log.error("a worker ended", worker=worker.pid, status=process.status, owed=len(worker.thoughts), wrong=wrong)
        self._lost(worker.thoughts)
        return True

    def _lost(self, owed: Sequence[Thought]) -> None:
        """Repeat or answer the question during which the process died."""
        with self._turns:
            for thought in owed:
                self.spent += trio.current_time() - self._handed
                if (failures := thought.failures + 1) < FAILURES:
                    self._thoughts.appendleft(thought._replace(failures=failures))
                else:
                    self._tell(thought, f"{failures} workers ended over it")
        if self._thoughts:
            self._give_up_later()

    def _give_up_later(self) -> None:
        if self._nursery is not None:
            self._nursery.start_soon(self._wait_and_give_up)

    async def _wait_and_give_up(self) -> None:
        await trio.sleep(LIMIT)
        self._give_up()

    def _give_up(self) -> None:
        """Answer queued questions if there is no process."""
        if self._worker is None:
            waiting, self._thoughts = self._thoughts, deque()
            with self._turns:
                for thought in waiting:
                    self._tell(thought, "there is no worker for it")
