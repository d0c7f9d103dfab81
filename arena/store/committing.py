"""Group commit: all jobs that wait are one transaction, one wait for the disk.

Each job runs in a savepoint of its own, so that one that fails undoes nothing of the others. Nobody is told of success
before the commit; when it fails, everybody in it is told, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection

from arena.store.errors import StoreError
from arena.store.sqlite import abandon, in_transaction, named, release, roll_back, savepoint

Job: TypeAlias = Callable[[Connection], Any]


class Outcome(NamedTuple):
    """What came of a job."""

    value: Any
    error: Exception | None = None
    """Why nothing of it is stored."""


class Committer:
    """Runs jobs on its connection, in their order."""

    def __init__(self, connection: Connection, path: Path) -> None:
        """`path` is the database's, for errors."""
        self._connection: Final = connection
        self._path: Final = path

    def commit(self, jobs: Sequence[Job]) -> list[Outcome]:
        """One transaction of these jobs; what came of each. Raises nothing: whoever writes outlives every failure."""
        try:
            with self._connection.begin():
                return [self._try(job) for job in jobs]
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear it
            abandon(self._connection)
            reason = named(error, self._path)
            return [Outcome(None, reason if isinstance(reason, StoreError) else _undone(error))] * len(jobs)

    def _try(self, job: Job) -> Outcome:
        savepoint(self._connection)
        try:
            value = job(self._connection)
            release(self._connection)
        except Exception as error:
            if not in_transaction(self._connection):
                raise
            roll_back(self._connection)
            return Outcome(None, named(error, self._path))
        return Outcome(value)


def _undone(error: Exception) -> StoreError:
    """What others hear when an error that is not theirs undid the whole transaction."""
    undone = StoreError(f"the transaction was undone: {error}")
    undone.__cause__ = error
    return undone
