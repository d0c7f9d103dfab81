"""The single writer of a data directory, as an interface and as a thread of this process.

Jobs that arrive during a commit form the next commit (`Committer`). The thread is for programs in which speed does not
matter, and for systems that cannot fork. A server uses `process`, whose docstring gives the reasons.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol

import trio
from sqlalchemy import Connection

from arena.processes.calls import Ticket
from arena.store.base.database import Database
from arena.store.base.errors import StoreClosed
from arena.store.writer.group_commit import Committer, Job, Outcome, nothing


class Writer(Protocol):
    """Executor of jobs on the only connection that writes, in the order of the calls."""

    async def write(self, job: Job) -> Any:
        """Return the job's result once it is stored on disk, or raise its error. Cancelling does not stop the job.

        Raises: DiskFull or another StoreError: Nothing of the job is stored. StoreClosed: The job did not start.
        """

    async def close(self) -> None:
        """Finish the jobs accepted so far and accept no more. Shielded from cancellation."""


def result_of(outcome: Outcome) -> Any:
    """Return a job's result, or raise its error."""
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


@asynccontextmanager
async def thread_writer(
    database: Database, end: Callable[[Connection], None] = nothing, shared: bool = False
) -> AsyncIterator[Writer]:
    """Run a writer thread for an existing database. `end` and `shared` are passed to `Committer`.

    Leaving the `with` block waits until every job is stored.
    """
    with database.writing().connect() as connection:
        committer = Committer(connection, database, end, shared)
        writer = ThreadWriter(committer)
        try:
            yield writer
        finally:
            await writer.close()
            committer.close()


class ThreadWriter:
    """A writer thread for the trio run that created it."""

    def __init__(self, committer: Committer) -> None:
        self._committer: Final = committer
        self._trio: Final = trio.lowlevel.current_trio_token()
        self._queue: Final[SimpleQueue[tuple[Job, Ticket] | None]] = SimpleQueue()
        self._closed = False
        self._thread: Final = Thread(target=self._work, name="arena-store-writer", daemon=True)
        self._thread.start()

    async def write(self, job: Job) -> Any:
        if self._closed:
            raise StoreClosed
        ticket = Ticket()
        self._queue.put((job, ticket))
        return result_of(await ticket.answer())

    async def close(self) -> None:
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
            accepted = [each for each in waiting if each is not None]
            if not accepted:
                continue
            outcomes = self._committer.commit([job for job, _ in accepted])
            with suppress(trio.RunFinishedError):  # The trio run has ended, so nothing waits for the outcomes.
                self._trio.run_sync_soon(_settle_all, [ticket for _, ticket in accepted], outcomes)


def _settle_all(tickets: Sequence[Ticket], outcomes: Sequence[Outcome]) -> None:
    for ticket, outcome in zip(tickets, outcomes, strict=True):
        ticket.settle(outcome)
