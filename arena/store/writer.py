"""The one thread that writes, with group commit: all jobs that wait are one transaction, one wait for the disk.

Each job runs in a savepoint of its own, so that one that fails undoes nothing of the others. Nobody is told of success
before the commit; when it fails, everybody in it is told, and nothing is stored. The thread outlives every failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

import trio
from sqlalchemy import Connection

from arena.store.errors import StoreClosed, StoreError
from arena.store.sqlite import abandon, in_transaction, named, release, roll_back, savepoint

T = TypeVar("T")


class _Ticket:
    """A job, where its result goes, and who waits for it."""

    __slots__ = ("done", "error", "job", "value")

    def __init__(self, job: Callable[[Connection], Any]) -> None:
        self.job: Final = job
        self.done: Final = trio.Event()
        self.value: Any = None
        self.error: Exception | None = None


class Writer:
    """Runs jobs on its connection, in the order they come. For the trio run in which it was made."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection: Final = connection
        self._path: Final = path
        self._trio: Final = trio.lowlevel.current_trio_token()
        self._queue: Final[SimpleQueue[_Ticket | None]] = SimpleQueue()
        self._closed = False
        self._thread: Final = Thread(target=self._work, name="arena-store-writer", daemon=True)
        self._thread.start()

    async def write(self, job: Callable[[Connection], T]) -> T:
        """The job's result once it is safely stored, or its error. Who stops waiting does not stop the job.

        DiskFull or another StoreError: nothing of the job is stored. StoreClosed: it was not even begun.
        """
        if self._closed:
            raise StoreClosed
        ticket = _Ticket(job)
        self._queue.put(ticket)
        await ticket.done.wait()
        if ticket.error is not None:
            raise ticket.error
        value: T = ticket.value
        return value

    async def close(self) -> None:
        """Does what was asked before and ends the thread. Not to be cancelled."""
        self._closed = True
        self._queue.put(None)
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._thread.join)

    def _work(self) -> None:
        going = True
        while going:
            waiting = [self._queue.get()]
            try:
                while True:
                    waiting.append(self._queue.get_nowait())
            except Empty:
                pass
            going = waiting[-1] is not None
            self._commit([ticket for ticket in waiting if ticket is not None])

    def _commit(self, batch: Sequence[_Ticket]) -> None:
        if not batch:
            return
        try:
            with self._connection.begin():
                for ticket in batch:
                    self._try(ticket)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear it, and the thread live on
            abandon(self._connection)
            for ticket in batch:
                reason = named(error, self._path)
                ticket.error = reason if isinstance(reason, StoreError) else _undone(error)
        with suppress(trio.RunFinishedError):  # then nobody is left to hear it
            self._trio.run_sync_soon(_wake, batch)

    def _try(self, ticket: _Ticket) -> None:
        savepoint(self._connection)
        try:
            ticket.value = ticket.job(self._connection)
            release(self._connection)
        except Exception as error:
            if not in_transaction(self._connection):
                raise
            roll_back(self._connection)
            ticket.error = named(error, self._path)


def _undone(error: Exception) -> StoreError:
    """What others hear when an error that is not theirs undid the whole transaction."""
    undone = StoreError(f"the transaction was undone: {error}")
    undone.__cause__ = error
    return undone


def _wake(batch: Sequence[_Ticket]) -> None:
    for ticket in batch:
        ticket.done.set()
