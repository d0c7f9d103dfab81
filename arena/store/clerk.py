"""The clerk: a process of a server's own that writes its database, so that the server's thread need not.

A thread would take a fifth of the server's time, and the interpreter's lock at every statement. The clerk is forked
from the server before that has begun anything, and so is the same program. Jobs go to it as frames, and what came of
each goes back in the same order. It ends with its line, having done all that it was asked: a server that is killed
leaves it a moment's work, during which the lock of the data directory, which both have, keeps the next server waiting.
A server whose clerk has ended cannot go on and says so.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import trio

from arena.frames import Frames, packed
from arena.store.committing import Committer, Job, Outcome
from arena.store.errors import Refused, StoreClosed, StoreError
from arena.store.sqlite import writing
from arena.store.writer import Ticket, Writer

PIECE: Final = 1 << 18
"""The most bytes read at once."""


class Clerk(NamedTuple):
    """The process, as its server sees it. It waits for the database it is to write."""

    pid: int
    line: socket.socket


@contextmanager
def forked_clerk() -> Iterator[Clerk | None]:
    """A clerk, gone at the end of the block; None where no process can be forked.

    To be entered while this process has one thread, no event loop and no database open.
    """
    if not hasattr(os, "fork"):
        yield None
        return
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        ours.close()
        _be_clerk(theirs)
    theirs.close()
    try:
        yield Clerk(pid, ours)
    finally:
        ours.close()
        os.waitpid(pid, 0)


@asynccontextmanager
async def clerk_writer(clerk: Clerk, path: Path, lock: int) -> AsyncIterator[Writer]:
    """A clerk as the writer of a database that is there; `lock` is that of its directory.

    On leaving, what was asked for is stored and the clerk ends. StoreError, in a group, when it ends before.
    """
    socket.send_fds(clerk.line, [b"\0"], [lock])
    clerk.line.sendall(packed(path))
    clerk.line.setblocking(False)
    async with trio.open_nursery() as nursery:
        writer = ClerkWriter(clerk, nursery)
        nursery.start_soon(writer.run)
        try:
            yield writer
        finally:
            await writer.close()


class ClerkWriter:
    """Has a clerk do what is to be written. A job leaves when it is asked for: it costs the server one system call."""

    def __init__(self, clerk: Clerk, nursery: trio.Nursery) -> None:
        self._line: Final = clerk.line
        self._pid: Final = clerk.pid
        self._nursery: Final = nursery
        self._unsent: Final = bytearray()
        """What the line has no room for; `_send_rest` is at it."""
        self._tickets: Final[deque[Ticket]] = deque()
        self._gone: Final = trio.Event()
        self._end: StoreError | None = None
        """Why no more is taken."""

    async def write(self, job: Job) -> Any:
        """See `Writer`. A job and what it gives or raises can be pickled."""
        if self._end is not None:
            raise self._end
        frame = packed(job)
        ticket = Ticket()
        self._tickets.append(ticket)
        self._send(frame)
        return await ticket.result()

    async def close(self) -> None:
        """See `Writer`."""
        with trio.CancelScope(shield=True):
            if self._end is None:
                self._end = StoreClosed()
                if not self._unsent:
                    self._line.shutdown(socket.SHUT_WR)
            await self._gone.wait()

    async def run(self) -> None:
        """Hears what came of jobs, until the clerk ends; StoreError if it was not told to."""
        frames = Frames()
        with trio.CancelScope(shield=True):  # until `close`
            while piece := await self._heard():
                for outcome in frames.take(piece):
                    self._tickets.popleft().settle(Outcome(*outcome))
        lost = StoreError(f"the process that writes the database (pid {self._pid}) has ended; start the server again")
        self._end = self._end or lost
        while self._tickets:
            self._tickets.popleft().settle(Outcome(None, lost))
        self._gone.set()
        if self._end is lost:
            raise lost

    async def _heard(self) -> bytes:
        """Waits until the clerk says something; nothing when it has ended."""
        await trio.lowlevel.wait_readable(self._line)
        try:
            return self._line.recv(PIECE)
        except ConnectionError:
            return b""  # it has left jobs unread

    def _send(self, frame: bytes) -> None:
        if not self._unsent:
            frame = frame[self._taken(frame) :]
            if not frame:
                return  # nearly always
            self._nursery.start_soon(self._send_rest)
        self._unsent.extend(frame)

    async def _send_rest(self) -> None:
        with trio.CancelScope(shield=True):  # half a job would be the end of all
            while self._unsent:
                await trio.lowlevel.wait_writable(self._line)
                del self._unsent[: self._taken(self._unsent)]
        if self._end is not None:
            self._line.shutdown(socket.SHUT_WR)

    def _taken(self, content: bytes | bytearray) -> int:
        """The bytes of it that the line takes now: all, once nobody reads them."""
        try:
            return self._line.send(content)
        except BlockingIOError:
            return 0
        except ConnectionError:
            return len(content)  # `run` tells everybody


# --- the process itself ---


def _be_clerk(line: socket.socket) -> NoReturn:
    """Writes until the server is gone, and ends: nothing returns to what the server does."""
    status = 1
    try:
        _serve(line)
        status = 0
    except ConnectionError:
        status = 0  # the server is gone: nobody waits for an answer
    except BaseException:  # noqa: BLE001 - whatever it is, it ends here
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _serve(line: socket.socket) -> None:
    """Writes what it is asked to, until its server is gone or has no more."""
    gc.freeze()  # what the server had is looked through no more
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # they are for the server, which ends this one
    begun, _, _, _ = socket.recv_fds(line, 1, 1)  # and the lock, which is let go of at the end of the process
    if not begun:
        return  # the server could not begin
    batches = _batches(line)
    path, *first = next(batches)
    with writing(path).connect() as connection:
        committer = Committer(connection, path)
        for jobs in chain((first,), batches):
            line.sendall(b"".join(map(_packed, committer.commit(jobs))))


def _batches(line: socket.socket) -> Iterator[list[Any]]:
    """All messages that are there, whenever there are any; until the other end is closed."""
    frames = Frames()
    waiting: list[Any] = []
    while piece := line.recv(PIECE):
        waiting += frames.take(piece)
        if waiting and not select.select((line,), (), (), 0)[0]:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _packed(outcome: Outcome) -> bytes:
    if outcome.error is None:
        return packed((outcome.value, None))
    if not isinstance(outcome.error, StoreError | Refused):  # a fault: where it was raised can be told only here
        outcome.error.add_note("".join(traceback.format_exception(outcome.error)))
    try:
        frame = packed(outcome)
        next(Frames().take(frame))
    except Exception:  # noqa: BLE001 - errors of others may not survive the journey
        return packed(Outcome(None, StoreError(f"{type(outcome.error).__name__}: {outcome.error}")))
    return frame
