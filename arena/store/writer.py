"""Who writes: one at a time for a data directory, in a thread of this process or in a clerk's.

What waits while a commit is under way is the next one (`Committer`). The thread is for programs that have other things
to do than to be fast, and for systems that cannot fork; `clerk` says why a server has a process.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol

import trio

from arena.store.committing import Committer, Job, Outcome
from arena.store.errors import StoreClosed
from arena.store.sqlite import writing


class Writer(Protocol):
    """Runs jobs on the one connection that writes, in the order they come."""

    async def write(self, job: Job) -> Any:
        """The job's result once it is safely stored, or its error. Who stops waiting does not stop the job.

        DiskFull or another StoreError: nothing of the job is stored. StoreClosed: it was not even begun.
        """

    async def close(self) -> None:
        """Does what was asked before, and nothing more. Not to be cancelled."""


class Ticket:
    """What comes of a job, and who waits for it."""

    __slots__ = ("_done", "_outcome")

    def __init__(self) -> None:
        self._done: Final = trio.Event()
        self._outcome: Outcome = Outcome(None)

    def settle(self, outcome: Outcome) -> None:
        """Tells whoever waits."""
        self._outcome = outcome
        self._done.set()

    async def result(self) -> Any:
        """The job's result, or its error is raised."""
        await self._done.wait()
        if self._outcome.error is not None:
            raise self._outcome.error
        return self._outcome.value


@asynccontextmanager
async def thread_writer(path: Path) -> AsyncIterator[Writer]:
    """A writer of a database that is there, in a thread of this process; on leaving, what was asked for is stored."""
    with writing(path).connect() as connection:
        writer = ThreadWriter(Committer(connection, path))
        try:
            yield writer
        finally:
            await writer.close()


class ThreadWriter:
    """A thread that writes. For the trio run in which it was made."""

    def __init__(self, committer: Committer) -> None:
        self._committer: Final = committer
        self._trio: Final = trio.lowlevel.current_trio_token()
        self._queue: Final[SimpleQueue[tuple[Job, Ticket] | None]] = SimpleQueue()
        self._closed = False
        self._thread: Final = Thread(target=self._work, name="arena-store-writer", daemon=True)
        self._thread.start()

    async def write(self, job: Job) -> Any:
        """See `Writer`."""
        if self._closed:
            raise StoreClosed
        ticket = Ticket()
        self._queue.put((job, ticket))
        return await ticket.result()

    async def close(self) -> None:
        """See `Writer`."""
        self._closed = True
        self._queue.put(None)
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._thread.join)

    def _work(self) -> None:
        going = True
        while going:
            waiting = [self._queue.get()]
            with suppress(Empty):
                while True:
                    waiting.append(self._queue.get_nowait())
            going = waiting[-1] is not None
            asked = [each for each in waiting if each is not None]
            if not asked:
                continue
            outcomes = self._committer.commit([job for job, _ in asked])
            with suppress(trio.RunFinishedError):  # then nobody is left to hear it
                self._trio.run_sync_soon(_tell, [ticket for _, ticket in asked], outcomes)


def _tell(tickets: Sequence[Ticket], outcomes: Sequence[Outcome]) -> None:
    for ticket, outcome in zip(tickets, outcomes, strict=True):
        ticket.settle(outcome)
