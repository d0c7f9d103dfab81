"""The writer thread: group commit, failures of a job or a commit, waiters that leave, and the end."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from sqlalchemy import Connection, event, func, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from arena.store import schema
from arena.store.base.errors import DiskFull, NameTaken, StoreClosed, StoreError
from arena.store.bots import bots
from arena.store.opening import open_readonly
from arena.store.store import Store, open_store
from tests.postgresql import defer_foreign_key, in_words_of


def register(name: str) -> Callable[[Connection], str]:
    return lambda connection: bots.register(connection, name, "", 1).bot.name


def names(connection: Connection) -> set[str]:
    return set(connection.scalars(select(schema.bots.c.name)))


class Gate:
    """A job that occupies the writer, so that all jobs queued meanwhile form one batch."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._open = threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.entered.set()
        assert self._open.wait(60)

    def open(self) -> None:
        self._open.set()


async def together(store: Store, *jobs: Callable[[Connection], object]) -> list[object]:
    """Run jobs in one batch. Return their results or errors."""
    results: list[object] = [None] * len(jobs)
    gate = Gate()

    async def one(number: int, job: Callable[[Connection], object]) -> None:
        try:
            results[number] = await store.write(job)
        except Exception as error:  # noqa: BLE001 - the error is the result
            results[number] = error

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.write, gate)
            await trio.to_thread.run_sync(gate.entered.wait, 60)
            for number, job in enumerate(jobs):
                nursery.start_soon(one, number, job)
                await trio.testing.wait_all_tasks_blocked()  # so that they queue in this order
            gate.open()
    return results


async def test_jobs_return_their_values_and_are_there_for_readers(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        assert await store.write(register("Ada")) == "Ada"
        assert await store.read(names) == {"Ada"}


async def test_what_waits_is_committed_together(directory: Path) -> None:
    commits = 0

    def count(connection: Connection) -> None:
        nonlocal commits
        commits += 1

    def watch(connection: Connection) -> None:
        event.listen(connection.engine, "commit", count)

    async with open_store(directory, 1) as store:
        await store.write(watch)
        commits = 0
        results = await together(store, *(register(f"bot{number}") for number in range(50)))
        assert results == [f"bot{number}" for number in range(50)]
        assert commits == 2, "one for the gate, one for the fifty"
        assert await store.write(lambda connection: connection.scalar(select(func.count(schema.bots.c.id)))) == 50


async def test_one_failing_job_undoes_itself_and_nothing_of_the_others(directory: Path) -> None:
    def fails_late(connection: Connection) -> None:
        register("Eve")(connection)
        raise ZeroDivisionError

    async with open_store(directory, 1) as store:
        first, failed, taken, last = await together(
            store, register("Ada"), fails_late, register("ADA"), register("Bob")
        )
        assert (first, last) == ("Ada", "Bob")
        assert isinstance(failed, ZeroDivisionError)
        assert isinstance(taken, NameTaken)
        assert await store.read(names) == {"Ada", "Bob"}


@pytest.mark.sqlite_only("it has the driver's words")
async def test_errors_of_the_database_have_the_stores_names(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        for work in (store.write, store.read):
            run: Callable[[Callable[[Connection], object]], Awaitable[object]] = work
            with pytest.raises(StoreError, match="no such table"):
                await run(lambda connection: connection.execute(text("SELECT * FROM recipes")))
        with pytest.raises(IntegrityError):
            await store.write(lambda connection: connection.execute(text("INSERT INTO bots (id) VALUES (1)")))


@pytest.mark.sqlite_only("it has the driver's words")
async def test_a_reader_cannot_write(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        with pytest.raises(StoreError, match="readonly"):
            await store.read(register("Ada"))
        with pytest.raises(StoreError, match="readonly"), open_readonly(directory) as connection:
            register("Ada")(connection)
        assert await store.read(names) == set()


def no_more_pages(connection: Connection) -> None:
    used = connection.execute(text("PRAGMA page_count")).scalar_one()
    connection.execute(text(f"PRAGMA max_page_count = {used}"))


def more_pages(connection: Connection) -> None:
    connection.execute(text("PRAGMA max_page_count = 1000000"))


@pytest.mark.sqlite_only("it is SQLite's own SQL")
async def test_a_full_database_that_ends_the_transaction_fails_everybody_in_it(directory: Path) -> None:
    def too_big(connection: Connection) -> None:
        connection.execute(text("INSERT INTO ballast VALUES (zeroblob(1000000))"))

    async with open_store(directory, 1) as store:
        await store.write(register("Ada"))
        await store.write(lambda connection: connection.execute(text("CREATE TABLE ballast (content BLOB)")) and None)
        await store.write(no_more_pages)
        results = await together(store, register("Bob"), too_big, register("Eve"))
        assert [type(result) for result in results] == [DiskFull] * 3
        assert "make room" in str(results[0])
        assert await store.read(names) == {"Ada"}
        await store.write(more_pages)
        await together(store, register("Bob"), too_big, register("Eve"))
        assert await store.read(names) == {"Ada", "Bob", "Eve"}


async def test_a_commit_that_fails_fails_everybody_in_it_and_the_writer_lives_on(directory: Path) -> None:
    def orphan(connection: Connection) -> None:
        # the commit itself checks a deferred constraint
        defer_foreign_key(connection, "replays")
        wrong = "INSERT INTO replays (match_id, content, sha256) VALUES (99, x'', x'')"
        connection.execute(in_words_of(connection, wrong))

    async with open_store(directory, 1) as store:
        results = await together(store, register("Ada"), orphan)
        assert [type(result) for result in results] == [StoreError] * 2
        assert "FOREIGN KEY CONSTRAINT" in str(results[0]).upper()
        assert await store.read(names) == set()
        assert await together(store, register("Ada")) == ["Ada"]
        assert await store.read(names) == {"Ada"}


async def test_the_cause_of_a_renamed_error_is_kept(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        for work in (store.write, store.read):
            run: Callable[[Callable[[Connection], object]], Awaitable[object]] = work
            with pytest.raises(StoreError) as caught:
                await run(lambda connection: connection.execute(text("SELECT * FROM recipes")))
            assert isinstance(caught.value.__cause__, DBAPIError)


async def test_who_stops_waiting_does_not_stop_the_job(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        with trio.CancelScope() as scope:
            scope.cancel()
            await store.write(register("Ada"))
        assert scope.cancelled_caught
        await store.write(register("Bob"))
        assert await store.read(names) == {"Ada", "Bob"}


async def test_closing_stores_what_was_asked_for_before(directory: Path) -> None:
    gate = Gate()
    stored: list[str] = []

    async def one(store: Store, name: str) -> None:
        stored.append(await store.write(register(name)))

    async with trio.open_nursery() as nursery:
        async with open_store(directory, 1) as store:
            nursery.start_soon(store.write, gate)
            await trio.to_thread.run_sync(gate.entered.wait, 60)
            for number in range(20):
                nursery.start_soon(one, store, f"bot{number}")
            await trio.testing.wait_all_tasks_blocked()
            gate.open()
        with open_readonly(directory) as connection:
            assert len(names(connection)) == 20
    assert len(stored) == 20


async def test_a_closed_store_takes_no_more_work(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        pass
    with pytest.raises(StoreClosed):
        await store.write(register("Ada"))


async def test_closing_is_not_cut_short_by_cancellation(directory: Path) -> None:
    with trio.CancelScope() as scope:
        async with open_store(directory, 1) as store:
            scope.cancel()
            await store.write(register("Ada"))
    with open_readonly(directory) as connection:
        assert names(connection) == {"Ada"}


def test_a_job_outlives_the_run_that_asked_for_it(tmp_path: Path) -> None:
    """The writer's trio run is over. The job is still stored, but no result is reported."""
    from arena.store.base.directory import database_of
    from arena.store.base.migrate import migrate
    from arena.store.writer.group_commit import Committer
    from arena.store.writer.writer import ThreadWriter

    database = database_of(tmp_path)
    gate = Gate()
    with database.writing().connect() as connection:
        with connection.begin():
            migrate(connection, database)

        async def main() -> ThreadWriter:
            writer = ThreadWriter(Committer(connection, database))
            for job in (gate, register("Ada")):
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await writer.write(job)
            return writer

        writer = trio.run(main)
        gate.open()
        trio.run(writer.close)
    with open_readonly(tmp_path) as connection:
        assert names(connection) == {"Ada"}


async def test_reading_goes_on_beside_writing(directory: Path) -> None:
    async with open_store(directory, 1) as store:
        await store.write(register("Ada"))
        gate = Gate()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.write, register("Bob"))
            nursery.start_soon(store.write, gate)
            await trio.to_thread.run_sync(gate.entered.wait, 60)
            assert await store.read(names) >= {"Ada"}
            with open_readonly(directory) as connection:
                before = names(connection)
                gate.open()
                await store.write(register("Eve"))
                assert names(connection) == before, "one committed state"
            assert await store.read(names) == {"Ada", "Bob", "Eve"}
