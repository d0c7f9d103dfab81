"""The writer process: a forked helper process that makes all of a server's writes to its database.

A thread would use a fifth of the server's time, and would need the interpreter lock for every statement. The process is
forked before the server starts anything else. Jobs are sent to it as calls. It ends with its server, after finishing
the jobs that it has received. So the writer process of a killed server may still write for a moment. The next server
waits for the lock of the data directory, which both processes hold. A server cannot continue without its writer
process, and stops with an error.
"""

from __future__ import annotations

import socket
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

import trio
from sqlalchemy import Connection

from arena.processes.calls import Calls, HelperEnded
from arena.processes.channel import Channel
from arena.processes.frames import Frames, packed
from arena.processes.launch import ForkedHelper, forked
from arena.processes.parent import Parent
from arena.store.base.database import Database
from arena.store.base.errors import Refused, StoreClosed, StoreError
from arena.store.writer.group_commit import Committer, Job, Outcome, nothing
from arena.store.writer.writer import Writer, result_of

WriterProcess: TypeAlias = ForkedHelper
"""The server's handle for a writer process, which waits until it gets a database."""


def fork_writer_process() -> AbstractContextManager[WriterProcess | None]:
    """Fork a writer process that ends with the `with` block. Yield None on systems that cannot fork.

    Enter the block while this process has only one thread, no event loop and no open database.
    """
    return forked(_serve)


@asynccontextmanager
async def process_writer(
    writer_process: WriterProcess,
    database: Database,
    lock: int,
    end: Callable[[Connection], None] = nothing,
    shared: bool = False,
) -> AsyncIterator[Writer]:
    """Let a writer process write to an existing database. `lock`: the file descriptor of its directory's lock.

    `end` and `shared` are passed to `Committer`; `end` must be picklable. Leaving the `with` block waits until every
    job is stored and the process has ended. Raises StoreError, in an exception group, if the process ends earlier.
    """
    socket.send_fds(writer_process.line, [b"\0"], [lock])
    channel = Channel(writer_process.line)
    channel.send((database, end, shared))
    async with trio.open_nursery() as nursery:
        writer = ProcessWriter(writer_process.pid, Calls(channel))
        nursery.start_soon(writer.run)
        try:
            yield writer
        finally:
            await writer.close()


class ProcessWriter:
    """A writer that sends each job to the writer process at once, at the cost of one system call."""

    def __init__(self, pid: int, calls: Calls) -> None:
        self._pid: Final = pid
        self._calls: Final = calls
        self._closed = False

    async def write(self, job: Job) -> Any:
        # The job, its result and its errors must be picklable.
        if self._closed:
            raise StoreClosed
        try:
            outcome = Outcome(*await self._calls.call(job))
        except HelperEnded:
            raise self._ended_error() from None
        return result_of(outcome)

    async def close(self) -> None:
        self._closed = True
        with trio.CancelScope(shield=True):
            await self._calls.close()

    async def run(self) -> None:
        """Run until the process ends. Raises: StoreError: The process ended before `close`."""
        with trio.CancelScope(shield=True):  # Until `close`.
            await self._calls.run()
        if not self._closed:
            raise self._ended_error()

    def _ended_error(self) -> StoreError:
        return StoreError(f"the process that writes the database (pid {self._pid}) has ended; start the server again")


# --- in the writer process ---


def _serve(server: Parent) -> None:
    """Run jobs from the server until it closes the connection or ends."""
    # This also receives the lock, which is held until this process ends.
    begun, _, _, _ = socket.recv_fds(server.line, 1, 1)
    if not begun:
        return  # The server did not start.
    (database, end, shared), *jobs = server.receive()
    with database.writing().connect() as connection:
        committer = Committer(connection, database, end, shared)
        while jobs or (jobs := server.receive()):
            while server.waiting() and (more := server.receive()):
                jobs += more  # All queued jobs run in one transaction.
            server.send(map(_portable, committer.commit(jobs)))
            jobs = []


def _portable(outcome: Outcome) -> tuple[Any, Exception | None]:
    """Return an outcome that can be pickled. An error that cannot be pickled becomes a StoreError with its text."""
    error = outcome.error
    if error is None or isinstance(error, StoreError | Refused):
        return outcome.value, error
    error.add_note("".join(traceback.format_exception(error)))  # Pickling drops the traceback.
    try:
        Frames().take(packed(error))
    except Exception:  # noqa: BLE001 - pickling may raise anything
        error = StoreError(f"{type(error).__name__}: {error}")
    return None, error
