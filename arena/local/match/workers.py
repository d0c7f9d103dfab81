"""Processes of this machine that play the sets of a match, and what becomes of them."""

from __future__ import annotations

import mmap
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from arena.local.errors import LocalMatchError, WorkerDied
from arena.local.match.thinking import FIELDS, SlowBot, SlowBots, ThinkingRecord, bot_of
from arena.processes.frames import Frames, packed
from arena.processes.launch import OWN_GROUP, command, environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from arena.local.match.play_set import PlayedTask
    from arena.local.match.sets import Subject

MODULE: Final = "arena.local.match.worker"
PIECE: Final = 1 << 16
"""The most bytes read at once."""
GRACE: Final = 2.0
"""Seconds for which a worker that is not needed any more may go on with its task and end in order."""
STDERR: Final = 2


class Workers:
    """So many worker processes, each with its own bots. What bots print goes to standard error."""

    def __init__(self, workers: int, subject: Subject) -> None:
        self.workers = workers
        self._subject = subject
        self._tasks = deque[tuple[int, ...]]()
        """The tasks that no worker has yet."""
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
        """End them: in order where there is time, at once after an error or Ctrl-C, which do not wait for a bot."""
        try:
            if kind is None or issubclass(kind, GeneratorExit):
                self._complete()
        finally:
            self._kill()

    def submit(self, numbers: Sequence[int]) -> None:
        self._tasks.append(tuple(numbers))
        self._hand_out()

    def finished(self, seconds: float) -> list[PlayedTask]:
        """Return the tasks that were finished; wait for the first, so many seconds at most.

        Raises:
            WorkerDied: a process has ended.
        """
        done = []
        for key, _ in self._selector.select(seconds):
            worker: _Worker = key.data
            for outcome in worker.received():
                worker.owed -= 1
                if isinstance(outcome, LocalMatchError):
                    raise outcome
                done.append(outcome)
            if worker.ended:
                raise self._died(worker)
        self._hand_out()
        if not done:
            for worker in self._started:
                if worker.process.poll() is not None:  # what it started may hold its socket open
                    raise self._died(worker)
        return done

    def slow(self) -> Iterable[SlowBot]:
        thinking = [found for worker in self._started if (found := worker.record.read()) is not None]
        return self._slow_bots.due(thinking, time.perf_counter())

    def _hand_out(self) -> None:
        """Give tasks to workers; a second one at a time only if it is short, as several sets of a task are."""
        while self._tasks:
            worker = min(self._started, key=lambda each: each.owed)
            if worker.owed > (len(self._tasks[0]) > 1):
                return
            worker.owed += 1
            worker.send((self._subject, self._tasks.popleft()))

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
        """Have all end after the tasks that they have begun, and wait a while for that."""
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


class _Worker:
    """A worker process, which leads a process group."""

    def __init__(self) -> None:
        self.owed = 0
        """Tasks that it was sent and has not finished."""
        self.ended = False
        """True if it sends nothing any more."""
        self._frames = Frames()
        self.line, its = socket.socketpair()
        try:
            with its, tempfile.TemporaryFile() as shared:
                shared.truncate(8 * FIELDS)
                self.record = ThinkingRecord(memoryview(mmap.mmap(shared.fileno(), 0)).cast("d"))
                self.process = subprocess.Popen(  # noqa: S603 - our own module
                    command(MODULE, [str(shared.fileno())]),
                    stdin=its.fileno(),
                    stdout=STDERR,
                    env=environment(),
                    pass_fds=[shared.fileno()],
                    process_group=OWN_GROUP,
                )
        except BaseException:
            self.line.close()
            raise

    def send(self, task: tuple[Subject, tuple[int, ...]]) -> None:
        """Send a task; one that has ended does not get it, which its socket tells."""
        with suppress(ConnectionError):
            self.line.sendall(packed(task))

    def received(self) -> list[Any]:
        """Return what it has sent."""
        try:
            piece = self.line.recv(PIECE)
        except ConnectionError:
            piece = b""
        self.ended = not piece
        return self._frames.take(piece)

    def complete(self) -> None:
        """Tell it that no more tasks come."""
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """Kill it with all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.line.close()
