"""An open data directory of a running server. Other programs use `opening`.

A job is a function of a connection, composed of operations such as those in `bots` and `matches`. A job runs in a
thread or in another process. So it must not call trio, and its arguments and results are plain values, not rows or
cursors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Final, NamedTuple, TypeAlias, TypeVar

import trio
from sqlalchemy import Connection, Engine

from arena.log.keys import HeadSigner
from arena.replay.read import read_unfinished
from arena.replay.replay import ReplayError
from arena.store import nodes
from arena.store.base import leaves as log
from arena.store.base.database import Database, disposed
from arena.store.base.directory import OpenFiles, database_of, identity, operator_token
from arena.store.base.errors import StoreError, StoreReplaced
from arena.store.base.lock import announce
from arena.store.base.migrate import migrate, revision_of
from arena.store.base.rows import Interruption
from arena.store.base.statements import database_now
from arena.store.journal.journal import (
    Journal,
    JournalContent,
    journal_files,
    journal_numbers,
    journal_of,
    open_journal,
    remove_further_journal,
)
from arena.store.log.key import open_log
from arena.store.matches import matches
from arena.store.nodes import Lease, NodeStart
from arena.store.opening import ExposedFile, close_to_others, store_errors
from arena.store.replays.files import Segment, attach, attached
from arena.store.replays.replays import move
from arena.store.writer.process import WriterProcess, process_writer
from arena.store.writer.writer import Writer, thread_writer
from trio_grpc.limits.work_budget import charge_caller

T = TypeVar("T")

WATCHED: Final = 0.5
"""Number of seconds between checks that the files still exist."""
READERS: Final = 2
"""Number of threads that may read at the same time."""
MOVING: Final = "moving replays out of the database"
"""Name of the slow step of the first start after an upgrade."""
Progress: TypeAlias = Callable[[str, int, int], None]
"""Progress callback, called with the step, the amount done so far, and the total amount."""


class FilesFound(NamedTuple):
    """The condition of a data directory's files when the server starts."""

    broken: Sequence[Segment] = ()
    """Replay files that were missing or too short."""
    in_database: int = 0
    """Number of replays that stay in the database because the disk has no space for moving them."""
    exposed: Sequence[ExposedFile] = ()
    """Files that other users could open."""


@dataclass(eq=False, repr=False)
class Store:
    """An open data directory, as used by its server."""

    _writer: Writer
    _reader: Engine
    _database: Database
    operator_token: str
    """The token that authenticates the operator."""
    journal: Journal
    """The journal of inputs from which running matches are continued."""
    unfinished: Mapping[int, Sequence[str]]
    """By match, the journal's lines of the running matches of an earlier server."""
    lost: Mapping[int, str]
    """By match, the reason for each interruption at this start."""
    files: FilesFound
    """The condition of the files at this start."""
    lock: int
    """The descriptor of the data directory's lock. Every process that has it open holds the lock."""
    signer: HeadSigner
    """The signer of the log's heads."""
    lease: Lease | None
    """The lease of the node's registration; None without other nodes."""
    _replaced: StoreReplaced | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._limiter = trio.CapacityLimiter(READERS)
        self._open_files = OpenFiles([self._database.path])

    async def write(self, job: Callable[[Connection], T]) -> T:
        """Run a job that may write, as in `Writer.write`."""
        try:
            value: T = await self._writer.write(job)
        except StoreReplaced as error:
            self._replaced = error
            raise
        return value

    def announce(self, socket: Path) -> None:
        """Record this server's Unix socket, for programs that look for the lock's holder. Raises: StoreError."""
        announce(self._database.path.parent, self.lock, socket)

    async def watch(self) -> None:
        """Wait until a file of the data directory is deleted or replaced. Then raise StoreReplaced within a second."""
        while self._replaced is None:
            self._open_files.check()
            self.journal.check()
            await trio.sleep(WATCHED)
        raise self._replaced

    async def read(self, job: Callable[[Connection], T]) -> T:
        """Run a job that only reads, in a thread, on one committed state of the store. Raises: StoreError."""

        work = 0.0

        def run() -> T:
            nonlocal work
            start = thread_time()
            try:
                with store_errors(self._database), self._reader.connect() as connection, connection.begin():
                    attach(connection, self._database.path.parent)
                    return job(connection)
            finally:
                work = thread_time() - start

        try:
            return await trio.to_thread.run_sync(run, limiter=self._limiter)
        finally:
            charge_caller(work)


@asynccontextmanager
async def open_store(
    directory: Path,
    at: int,
    writer_process: WriterProcess | None = None,
    progress: Progress = lambda what, done, whole: None,
    node: NodeStart | None = None,
    lock: int | None = None,
) -> AsyncIterator[Store]:
    """Open a data directory for a server; create or migrate it if needed.

    `at`: now, in microseconds since 1970. Writes go to `writer_process`, or without one to a thread of this process.
    Leaving the `with` block waits until every job is stored. `progress` is called with `MOVING` and the progress of an
    upgrade.

    `node`: the node as which this server registers. It takes over its own running matches. The first node also takes
    over matches of this directory's nodes that are not started with it. If nodes of other directories use the store,
    the database's clock replaces `at`. `lock`: the descriptor of the directory's lock, if the parent of several nodes
    holds it.

    Raises: StoreError, for example NodeError, StoreLocked, StoreTooOld or DiskFull, if it cannot be opened.
    """
    database = database_of(directory)
    with _locks(database, node, lock) as held, store_errors(database):
        if not _has_tables(database) and (journal_files(directory) or journal_numbers(directory)):
            raise StoreError(
                f"{database.path} is missing or empty, but {journal_of(directory)} shows that a server has used this "
                "directory: put the database back or restore a backup, or move the journal away to begin anew without "
                "the results"
            )
        exposed = close_to_others(directory, database)
        with database.writing().connect() as connection, connection.begin():
            migrate(connection, database)
            if node is not None and node.several:
                at = database_now(connection)
            signer = open_log(connection, directory, at)
            seal = partial(log.seal_added, sign=signer)
            alone, lease, left_journals = True, None, frozenset[int]()
            if node is None:
                matches.hand_over(connection, None)
            else:
                alone = not any(each.number != node.number for each in nodes.living(connection))
                lease = nodes.register(connection, node, identity(directory))
                if node.number == min(node.beside, default=node.number):
                    left_journals = journal_numbers(directory) - {*node.beside, node.number}
                    if node.several:
                        left_journals &= nodes.numbers_of(connection, identity(directory))
                    nodes.adopt(connection, node.number, left_journals)
        # Create the database before the journal. Then a journal without a database shows that the database was lost.
        # Open the journal outside a writing transaction, because on PostgreSQL it may pause for only 3 s.
        number = None if node is None else node.number
        with disposed(database.reading()) as reader, reader.connect() as connection, connection.begin():
            playing = matches.playing(connection, number)
            check_journal = partial(_check_journal, connection, journal_of(directory))
            journal, left = open_journal(directory, playing, check_journal, node=number)
        with closing(journal):
            lost = _interrupt_lost(database, number, {*playing} - left.lines.keys(), left.damaged, at, seal)
            for each in left_journals:
                remove_further_journal(directory, each)
            # This deletes bytes that no row refers to. So it runs only after the check that database and journal belong
            # together.
            found = _replay_files(database, directory, partial(progress, MOVING)) if alone else FilesFound()
            found = found._replace(exposed=exposed)
            shared = node is not None
            async with (
                thread_writer(database, seal, shared)
                if writer_process is None
                else process_writer(writer_process, database, held, seal, shared) as writer
            ):
                token = operator_token(directory)
                with disposed(database.reading()) as reader:
                    yield Store(writer, reader, database, token, journal, left.lines, lost, found, held, signer, lease)


@contextmanager
def _locks(database: Database, node: NodeStart | None, lock: int | None) -> Iterator[int]:
    """Lock the data directory, unless the parent holds its lock. A node also locks its own number.

    Yield the descriptor that the writer process also holds: that of the node's own lock, if there is one.
    """
    with database.locked() if lock is None else nullcontext(lock) as whole:
        if node is None:
            yield whole
            return
        with database.locked(node.number) as own:
            yield own


def _interrupt_lost(
    database: Database,
    number: int | None,
    missing: Collection[int],
    damaged: Collection[int],
    at: int,
    seal: Callable[[Connection], None],
) -> dict[int, str]:
    """Interrupt a node's running matches that the journal does not contain. Return the reasons, by match."""
    lost: dict[int, str] = {}
    if missing:
        with database.writing().connect() as connection, connection.begin():
            for match_id in matches.playing(connection, number):
                if match_id in missing:
                    reason = Interruption.JOURNAL_DAMAGED if match_id in damaged else Interruption.JOURNAL_LOST
                    lost[match_id] = reason.in_words()
                    matches.interrupt(connection, [match_id], lost[match_id], at)
            seal(connection)
    return lost


def _replay_files(database: Database, directory: Path, progress: Callable[[int, int], None]) -> FilesFound:
    """Clean up the files of replays, and move replays from the database to files."""
    with database.writing().connect() as connection:
        files = attach(connection, directory)
        try:
            with connection.begin():
                broken = files.sweep(connection)
            if attached(connection) is None:
                return FilesFound(broken)
            found = FilesFound(broken, move(connection, files, progress))
        finally:
            files.close()
    database.compact()
    return found


def _has_tables(database: Database) -> bool:
    """Return whether a database has tables, without changing a byte of it.

    Raises: StoreCorrupt, StoreNewer, StoreTooOld.
    """
    if database.empty():
        return False
    with disposed(database.reading()) as reader, reader.connect() as connection, connection.begin():
        return revision_of(connection, database) is not None


def _check_journal(connection: Connection, journal: Path, content: JournalContent) -> None:
    """Check that each match in the journal is the match with the same number in the database. Raises: StoreError."""
    for match_id, lines in content.lines.items():
        with suppress(ReplayError):  # Other code interrupts an unreadable match, with this error as the reason.
            header, _ = read_unfinished(lines[:1], f"the journal of match {match_id}")
            if header.started != matches.started(connection, match_id):
                raise StoreError(
                    f"{journal} is of another database: its match {match_id} is not the match {match_id} there; put "
                    "the two together that belong together, or move the journal away to have the running matches void"
                )
