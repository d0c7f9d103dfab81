"""An open data directory: what a server writes and reads with, and how everybody else reads without one.

A job is a function of a connection, made of the operations in `bots`, `matches` and `ladder`. It runs in a thread or in
another process: it must not touch trio, and takes and returns plain values, not rows or cursors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import trio
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from arena.store import matches
from arena.store.clerk import Clerk, clerk_writer
from arena.store.directory import locked, operator_token
from arena.store.errors import StoreUnusable
from arena.store.journal import Journal, open_journal
from arena.store.sqlite import DATABASE, named, reading, writing
from arena.store.upgrade import require_current, upgrade
from arena.store.writer import Writer, thread_writer

T = TypeVar("T")

READERS: Final = 2
"""Threads that read at the same time."""
LOST: Final = "the server died and left no journal of the match"
"""Why a match was interrupted that a dead server left behind."""


class Store:
    """An open data directory."""

    def __init__(
        self,
        writer: Writer,
        reader: Engine,
        path: Path,
        operator_token: str,
        journal: Journal,
        unfinished: Mapping[int, Sequence[str]],
    ) -> None:
        self.journal: Final = journal
        """What running matches are continued from."""
        self.unfinished: Final = unfinished
        """Matches that an earlier server left running: what its journal has of them."""
        self.operator_token: Final = operator_token
        """The operator's secret."""
        self._writer: Final = writer
        self._reader: Final = reader
        self._path: Final = path
        self._limiter: Final = trio.CapacityLimiter(READERS)

    async def write(self, job: Callable[[Connection], T]) -> T:
        """Runs a job that changes something; see `Writer.write`."""
        value: T = await self._writer.write(job)
        return value

    async def read(self, job: Callable[[Connection], T]) -> T:
        """Runs a job that only reads, on one committed state of the store; StoreError if it cannot."""

        def run() -> T:
            with _naming(self._path), self._reader.connect() as connection, connection.begin():
                return job(connection)

        return await trio.to_thread.run_sync(run, limiter=self._limiter)


@asynccontextmanager
async def open_store(directory: Path, at: int, clerk: Clerk | None = None) -> AsyncIterator[Store]:
    """Opens a data directory for a server, making it if need be; `at` is the present instant.

    A clerk writes, or where there is none a thread of this process. On leaving, everything asked for before is stored.
    StoreLocked, StoreUnusable, StoreCorrupt, StoreNewer or DiskFull if it cannot be opened.
    """
    path = directory / DATABASE
    with locked(directory) as lock, _naming(path):
        with writing(path).connect() as connection, connection.begin():
            upgrade(connection, path)
            playing = matches.playing(connection)
            journal, unfinished = open_journal(directory, playing)
            matches.interrupt(connection, [match for match in playing if match not in unfinished], LOST, at)
        with closing(journal):
            async with thread_writer(path) if clerk is None else clerk_writer(clerk, path, lock) as writer:
                yield Store(writer, reading(path), path, operator_token(directory), journal, unfinished)


@contextmanager
def open_readonly(directory: Path) -> Iterator[Connection]:
    """One committed state of a data directory, to be read without a server or beside one.

    StoreUnusable, StoreCorrupt, StoreNewer or StoreOlder if it cannot be read.
    """
    path = _existing(directory)
    with _current(path, reading(path)) as connection:
        yield connection


@contextmanager
def open_to_amend(directory: Path) -> Iterator[Connection]:
    """One transaction on a data directory that no server works on: of two that write, SQLite may lose one's pages.

    Errors as for `open_readonly`, StoreLocked and DiskFull.
    """
    path = _existing(directory)
    with locked(directory), _current(path, writing(path)) as connection:
        yield connection


def _existing(directory: Path) -> Path:
    path = directory / DATABASE
    if not path.is_file():
        raise StoreUnusable(directory, f"it has no {DATABASE}; a server started on it makes one")
    return path


@contextmanager
def _current(path: Path, engine: Engine) -> Iterator[Connection]:
    """One transaction on a database of this program's version."""
    with _naming(path), engine.connect() as connection, connection.begin():
        require_current(connection, path)
        yield connection


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Gives errors of the database the store's names."""
    try:
        yield
    except DBAPIError as error:
        raise named(error, path)  # noqa: B904 - it has its cause
