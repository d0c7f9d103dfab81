"""Group commit: all queued jobs run in one transaction and share one wait for the disk.

Each job runs in its own savepoint, so a job that fails does not undo the others. Results are delivered after the
commit. If the commit fails, all its jobs fail and nothing is stored. A commit to a file that was deleted or replaced
counts as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from arena.store.base import leaves as log
from arena.store.base.database import Database
from arena.store.base.directory import OpenFiles
from arena.store.base.errors import StoreError
from arena.store.base.statements import run
from arena.store.replays.files import attach

Job: TypeAlias = Callable[[Connection], Any]


class Outcome(NamedTuple):
    """The result of a job: its value or its error."""

    value: Any
    error: Exception | None = None
    """The reason why the job is not stored; None on success."""


class AtEnd(NamedTuple):
    """Value of a job that is computed at the end of the transaction, after all jobs have run."""

    complete: Job
    """Function that computes the value. It may only read."""


def nothing(connection: Connection) -> None:
    """Do nothing at the end of a transaction."""


class Committer:
    """Executor that runs jobs in order on one connection."""

    def __init__(
        self,
        connection: Connection,
        database: Database,
        end: Callable[[Connection], None] = nothing,
        shared: bool = False,
    ) -> None:
        """Write on `connection`. `database` translates its errors, and `end` runs at the end of each transaction.

        `shared`: true if other processes write to the database, too.
        """
        self._end: Final = end
        self._connection: Final = connection
        self._database: Final = database
        self._files: Final = OpenFiles(database.files)
        self._replays: Final = attach(connection, database.path.parent, shared)

    def commit(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run these jobs in one transaction and return their outcomes. Errors are returned, not raised, because the
        writer survives them.
        """
        try:
            with self._replays.transaction(self._connection):
                outcomes = [self._try(job) for job in jobs]
                self._end(self._connection)
                outcomes = [self._completed(outcome) for outcome in outcomes]
            self._files.check()
            return outcomes
        except Exception as error:  # noqa: BLE001 - every caller must get an outcome
            self._roll_back()
            reason = self._database.named(error)
            return [Outcome(None, reason if isinstance(reason, StoreError) else _undone_error(error))] * len(jobs)

    def close(self) -> None:
        """Close everything that this object has opened. The connection stays open."""
        self._replays.close()

    def _try(self, job: Job) -> Outcome:
        # SQLAlchemy's own savepoints cost as much as all the statements of a match.
        run(self._connection, "SAVEPOINT job", {})
        try:
            value = job(self._connection)
            run(self._connection, "RELEASE SAVEPOINT job", {})
        except Exception as error:  # noqa: BLE001 - becomes the outcome, or `commit` handles it
            try:
                run(self._connection, "ROLLBACK TO SAVEPOINT job", {})
            except DBAPIError:  # The database ended the whole transaction, as on a full disk.
                raise error  # noqa: B904 - the first error is the cause
            log.forget(self._connection)
            run(self._connection, "RELEASE SAVEPOINT job", {})
            return Outcome(None, self._database.named(error))
        return Outcome(value)

    def _completed(self, outcome: Outcome) -> Outcome:
        value = outcome.value
        return Outcome(value.complete(self._connection)) if isinstance(value, AtEnd) else outcome

    def _roll_back(self) -> None:
        """Roll back after a failed commit.

        The database may still have an open transaction that SQLAlchemy considers ended.
        """
        log.forget(self._connection)
        driver = self._connection.connection.dbapi_connection
        assert driver is not None, "the connection is open"
        with suppress(self._connection.dialect.loaded_dbapi.Error):  # The next transaction reports it.
            driver.rollback()
        if getattr(driver, "closed", False):  # The database server ended the session: the next transaction connects.
            self._connection.invalidate()


def _undone_error(error: Exception) -> StoreError:
    """Return the error for jobs whose transaction was undone by an error that they did not cause."""
    undone = StoreError(f"the transaction was undone: {error}")
    undone.__cause__ = error
    return undone
