"""Group commit: all queued jobs run in one transaction and share one wait for the disk.

Each job runs in its own savepoint, so a job that fails does not undo the others. On a database server, the savepoints
of a match would cost as much as its statements. There, jobs run without savepoints, and if one fails, all are undone
and run again with savepoints.

Results are delivered after the commit. If the commit fails, all its jobs fail and nothing is stored. A commit to a file
that was deleted or replaced counts as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from arena.store.base.database import Database
from arena.store.base.directory import OpenFiles
from arena.store.base.errors import StoreBusy, StoreError
from arena.store.base.statements import SESSION, forget, run
from arena.store.replays.files import attach

Job: TypeAlias = Callable[[Connection], Any]
"""Function that changes nothing but the database. After a rollback, it may run again."""


class Outcome(NamedTuple):
    """The result of a job: its value or its error."""

    value: Any
    error: Exception | None = None
    """The reason why the job is not stored; None on success."""


class _JobError(Exception):
    """Failure of a job without a savepoint. The job's error is the cause."""


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
        self._without_savepoints: Final = bool(connection.get_execution_options().get(SESSION))
        self._files: Final = OpenFiles(database.files)
        self._replays: Final = attach(connection, database.path.parent, shared)

    def commit(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run these jobs in one transaction. Return all outcomes, even errors, because the writer survives them."""
        try:
            try:
                return self._commit(jobs, self._plain if self._without_savepoints else self._try)
            except (_JobError, DBAPIError) as error:
                reason = error.__cause__ if isinstance(error, _JobError) else error
                assert isinstance(reason, Exception), "a job's error is the cause"
                busy = isinstance(self._database.named(reason), StoreBusy)  # Others held the write lock for too long.
                if not self._without_savepoints or self._roll_back() or busy:
                    raise reason  # noqa: B904 - the reason has a cause itself
                return self._commit(jobs, self._try)
        except Exception as error:  # noqa: BLE001 - every caller must get an outcome
            self._roll_back()
            reason = self._database.named(error)
            if not isinstance(reason, StoreError):  # The jobs did not cause it.
                reason = StoreError(f"the transaction was undone: {error}")
                reason.__cause__ = error
            return [Outcome(None, reason)] * len(jobs)

    def _commit(self, jobs: Sequence[Job], each: Callable[[Job], Outcome]) -> list[Outcome]:
        with self._replays.transaction(self._connection):
            outcomes = [each(job) for job in jobs]
            self._end(self._connection)
            outcomes = [self._completed(outcome) for outcome in outcomes]
        self._files.check()
        return outcomes

    def close(self) -> None:
        """Close everything that this object has opened. The connection stays open."""
        self._replays.close()

    def _plain(self, job: Job) -> Outcome:
        try:
            return Outcome(job(self._connection))
        except Exception as error:
            raise _JobError from error

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
            forget(self._connection)
            run(self._connection, "RELEASE SAVEPOINT job", {})
            return Outcome(None, self._database.named(error))
        return Outcome(value)

    def _completed(self, outcome: Outcome) -> Outcome:
        value = outcome.value
        return Outcome(value.complete(self._connection)) if isinstance(value, AtEnd) else outcome

    def _roll_back(self) -> bool:
        """Roll back after a failed commit. Return whether the database server has ended the session.

        The database may still have an open transaction that SQLAlchemy considers ended.
        """
        if self._connection.invalidated:  # The connection was lost earlier. Using it here would reconnect.
            return True
        forget(self._connection)
        driver = self._connection.connection.dbapi_connection
        assert driver is not None, "the connection is open"
        with suppress(self._connection.dialect.loaded_dbapi.Error):  # The next transaction reports it.
            driver.rollback()
        if ended := bool(getattr(driver, "closed", False)):
            self._connection.invalidate()  # The next transaction connects.
        return ended
