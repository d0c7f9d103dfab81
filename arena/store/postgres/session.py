"""Sessions of the writer with PostgreSQL, which send as few messages as possible.

Changes, which return no rows, wait in a queue. The next query or the commit sends the whole queue in one message. The
server runs the statements in order, so each sees the effects of those before it. BEGIN waits in the queue, too.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import adapters
from psycopg.adapt import AdaptersMap, Dumper, Loader, PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.waiting import Ready, Wait

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGresult

_PLACE: Final = re.compile(r"%\((\w+)\)s|%%")
_COMMIT: Final = (b"COMMIT", ())


class _Rows:
    """The answer to a statement, with the methods of a driver's cursor that the store uses."""

    def __init__(self, rows: list[tuple[Any, ...]], rowcount: int) -> None:
        self.rowcount: Final = rowcount
        self._rows: Final = iter(rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row; None after the last one."""
        return next(self._rows, None)

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        """Return the next rows, at most `size`; none after the last one."""
        return list(islice(self._rows, size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the remaining rows."""
        return list(self._rows)


class PostgresSession(psycopg.Connection[Any]):
    """A driver's connection with a queue. Its errors, which are logged, contain no values of rows."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._queue: list[tuple[bytes, Sequence[object]]] = []
        self._names: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._made = 0
        self._values = Transformer.from_context(self)

    def begin(self, *statements: bytes) -> None:
        """Queue the statements that begin a transaction."""
        self._queue += [(each, ()) for each in statements]

    def change(self, sql: str, values: Mapping[str, object]) -> None:
        """Queue a statement that returns no rows."""
        numbered, names = _numbered(sql)
        self._queue.append((numbered, [values[name] for name in names]))

    def ask(self, sql: str, values: Mapping[str, object]) -> _Rows:
        """Send the queue and a query. Return the query's rows."""
        self.change(sql, values)
        result = self._send()
        self._values.set_pgresult(result)
        return _Rows(self._values.load_rows(0, result.ntuples, tuple), result.command_tuples or 0)

    def cursor(self, *arguments: Any, **settings: Any) -> Any:
        """Send the queue. Return a cursor of the driver."""
        if self._queue:
            self._send()
        return super().cursor(*arguments, **settings)

    def commit(self) -> None:
        """Send the queue and commit the transaction."""
        if self._queue:
            self._queue.append(_COMMIT)
            self._send()
        else:
            super().commit()

    def rollback(self) -> None:
        """Undo the transaction and empty the queue."""
        self._queue.clear()
        super().rollback()

    def wait(self, *arguments: Any, **settings: Any) -> Any:
        """Wait for the server's answer. Remove the detail of its error, which names the violated key."""
        try:
            return super().wait(*arguments, **settings)
        except psycopg.Error as error:
            if error.diag.message_primary is not None:
                error.args = (error.diag.message_primary,)
            raise

    def _deallocate(self, name: bytes | None) -> PQGen[None]:
        if name is None:  # After a rollback, the driver drops all prepared statements.
            self._names.clear()
        return super()._deallocate(name)

    def _send(self) -> PGresult:
        """Send the queue. Return the answer to its last statement.

        This does not use the driver's own pipelines: after one, `idle_in_transaction_session_timeout` has no effect.
        """
        queue, self._queue = self._queue, []
        made: list[tuple[bytes, tuple[int, ...]]] = []
        self.pgconn.enter_pipeline_mode()
        try:
            for sql, values in queue:
                given = self._values.dump_sequence(values, [PyFormat.AUTO] * len(values))
                kind = sql, self._values.types or ()
                if (name := self._names.get(kind)) is None:
                    made.append(kind)
                    self._made += 1
                    name = self._names[kind] = b"arena_%d" % self._made
                    self.pgconn.send_prepare(name, sql, kind[1])
                self.pgconn.send_query_prepared(name, given, self._values.formats)
            self.pgconn.pipeline_sync()
            last: PGresult = self.wait(self._answers())
        except BaseException:
            for kind in made:
                del self._names[kind]  # The server may not have got this far.
            raise
        finally:
            if self.pgconn.status == ConnStatus.OK:
                self.pgconn.exit_pipeline_mode()
        return last

    def _answers(self) -> PQGen[PGresult]:
        """Wait for all answers, and return the last one. Raises the driver's error for the first failed statement."""
        connection = self.pgconn
        while connection.flush():
            if (yield Wait.RW) & Ready.R:
                connection.consume_input()
        last = failed = None
        while True:
            while connection.is_busy():
                yield Wait.R
                connection.consume_input()
            result = connection.get_result()
            if result is None:
                if connection.status != ConnStatus.OK:
                    break
            elif result.status == ExecStatus.PIPELINE_SYNC:
                break
            elif result.status == ExecStatus.FATAL_ERROR:
                failed = failed or result
            else:
                last = result
        if failed is not None:
            raise error_from_result(failed, encoding="utf-8")
        if last is None:
            raise psycopg.OperationalError("the connection is lost")
        return last


@cache
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a statement with numbered parameters, and their names in order."""
    names: list[str] = []

    def place(found: re.Match[str]) -> str:
        if found[1] is None:
            return "%"
        names.append(found[1])
        return f"${len(names)}"

    return _PLACE.sub(place, sql).encode(), tuple(names)


class Cursor(psycopg.Cursor[Any]):
    """A cursor that does not use the driver's own pipelines, for the reason in `PostgresSession._send`."""

    def executemany(self, query: Any, params_seq: Any, *, returning: bool = False) -> None:
        """Run a statement once for each set of values."""
        for each in params_seq:
            self.execute(query, each)


class _Truth(Dumper):
    """Conversion of booleans to untyped integers, which PostgreSQL accepts as numbers and as booleans."""

    def dump(self, value: Any) -> bytes:
        return b"1" if value else b"0"


class _Number(Loader):
    """Conversion of sums, which PostgreSQL returns as decimals, to integers."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or text == b"NaN" else int(text)


class Conversions:
    """Conversions of values. All integers have one type, so that one prepared statement serves them all."""

    adapters = AdaptersMap(adapters)
    connection = None


Conversions.adapters.register_dumper(int, Int8Dumper)
Conversions.adapters.register_dumper(bool, _Truth)
Conversions.adapters.register_loader("numeric", _Number)
