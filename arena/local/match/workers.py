"""Worker processes on this machine that play the sets of a match."""

from __future__ import annotations

import mmap
import selectors
import subprocess
import tempfile
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from arena.local.errors import LocalMatchError, WorkerDied
from arena.local.match.thinking import FIELDS, SlowBot, SlowBots, ThinkingRecord, bot_of
from arena.processes.launch import BlockingHelper

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from arena.local.match.play_set import PlayedTask
    from arena.local.match.sets import Subject

MODULE: Final = "arena.local.match.worker"
GRACE: Final = 2.0
"""Maximum number of seconds for a worker that is no longer needed to finish its task and end."""
STDERR: Final = 2


class Workers:
    """The worker processes, each with its own bots. The bots' output goes to standard error."""

    def __init__(self, workers: int, subject: Subject) -> None:
        self.workers = workers
        self._subject = subject
        self._tasks = deque[tuple[int, ...]]()
        """Tasks that no worker has yet."""
        self._selector = selectors.DefaultSelector()
        self._started: list[_Worker] = []
        self._slow_bots = SlowBots(subject)

    def __enter__(self) -> Workers:
        try:
            for _ in range(self.workers):
                worker = _Worker()
                self._started.append(worker)
                self._selector.register(worker.line, selectors.EVENT_READ, worker)
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the workers: after their tasks if there is time, but at once after an error or Ctrl-C."""
        try:
            if kind is None or issubclass(kind, GeneratorExit):
                self._complete()
        finally:
            self._kill()

    def submit(self, numbers: Sequence[int]) -> None:
        self._tasks.append(tuple(numbers))
        self._hand_out()

    def finished(self, seconds: float) -> list[PlayedTask]:
        """Return finished tasks. Wait at most `seconds` seconds for the first.

        Raises:
            WorkerDied: a process has ended.
        """
        done = []
        for key, _ in self._selector.select(seconds):
            worker: _Worker = key.data
            outcomes: list[PlayedTask | LocalMatchError] = []
            with suppress(ConnectionError):
                outcomes = worker.receive()
            for outcome in outcomes:
                worker.owed -= 1
                if isinstance(outcome, LocalMatchError):
                    raise outcome
                done.append(outcome)
            if not outcomes:
                raise self._died(worker)
        self._hand_out()
        if not done:
            for worker in self._started:
                if worker.process.poll() is not None:  # the worker's child processes may keep its socket open
                    raise self._died(worker)
        return done

    def slow(self) -> Iterable[SlowBot]:
        thinking = [found for worker in self._started if (found := worker.record.read()) is not None]
        return self._slow_bots.due(thinking, time.perf_counter())

    def _hand_out(self) -> None:
        """Send tasks to workers. A worker gets a second task in advance only if that task has several sets."""
        while self._tasks:
            worker = min(self._started, key=lambda each: each.owed)
            if worker.owed > (len(self._tasks[0]) > 1):
                return
            worker.owed += 1
            with suppress(ConnectionError):  # `finished` detects that the worker has ended
                worker.send([(self._subject, self._tasks.popleft())])

    def _died(self, worker: _Worker) -> WorkerDied:
        with suppress(subprocess.TimeoutExpired):
            worker.process.wait(GRACE)
        worker.kill()
        found = worker.record.read()
        who = (
            ""
            if found is None
            else f" of {bot_of(self._subject, found)}, in seat {found.seat} of set {found.set_number},"
        )
        return WorkerDied(worker.process.returncode, who)

    def _complete(self) -> None:
        """Ask all workers to end after their current tasks. Wait for them up to a limit."""
        for worker in self._started:
            worker.complete()
        until = time.monotonic() + GRACE
        for worker in self._started:
            with suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, until - time.monotonic()))

    def _kill(self) -> None:
        for worker in self._started:
            worker.kill()
        self._selector.close()


class _Worker(BlockingHelper):
    """A worker process and its record of thinking bots."""

    def __init__(self) -> None:
        self.owed = 0
        """Number of the worker's unfinished tasks."""
        with tempfile.TemporaryFile() as shared:
            shared.truncate(8 * FIELDS)
            self.record = ThinkingRecord(memoryview(mmap.mmap(shared.fileno(), 0)).cast("d"))
            super().__init__(MODULE, str(shared.fileno()), files=[shared.fileno()], stdout=STDERR)
