"""A program with a writer process, which prints the outcomes of its jobs as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio
from sqlalchemy import Connection, text
from trio.testing import wait_all_tasks_blocked

from arena.store.base.errors import NameTaken, StoreClosed, StoreError
from arena.store.bots import bots
from arena.store.opening import open_readonly
from arena.store.store import Store, open_store
from arena.store.writer.process import WriterProcess, fork_writer_process
from tests.store.jobs import NOW

LARGE = 3_000_000
"""More bytes than any buffer can contain."""


class Strange(Exception):  # noqa: N818 - one of others
    """An error that cannot be recreated from its arguments."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def register(connection: Connection, name: str) -> str:
    return bots.register(connection, name, "", NOW).bot.name


def fail(connection: Connection, name: str) -> None:
    register(connection, name)
    raise ZeroDivisionError("a fault")


def fail_strangely(connection: Connection) -> None:
    raise Strange(1, 2)


def misuse(connection: Connection) -> None:
    connection.execute(text("INSERT INTO bots (id) VALUES (1)"))


def echo(connection: Connection, large: bytes) -> bytes:
    return large


def writer(connection: Connection) -> int:
    return os.getpid()


def rest(connection: Connection, seconds: float) -> None:
    time.sleep(seconds)


def end(connection: Connection, after: float) -> None:
    time.sleep(after)
    os._exit(3)


def names(connection: Connection) -> list[str]:
    return [name for (name,) in connection.execute(text("SELECT name FROM bots ORDER BY id"))]


async def results(store: Store) -> object:
    """Values and errors are the same as from a thread."""
    assert await store.write(partial(register, name="Ada")) == "Ada"
    assert await store.write(writer) not in {os.getpid(), os.getppid()}
    assert await store.write(partial(echo, large=bytes(LARGE))) == bytes(LARGE)
    seen: list[object] = []
    for job in (partial(register, name="ADA"), partial(fail, name="Eve"), fail_strangely, misuse):
        try:
            await store.write(job)
        except Exception as error:  # noqa: BLE001 - that is what is looked at
            held = error.holder if isinstance(error, NameTaken) else ""
            told = any("in fail\n" in note for note in getattr(error, "__notes__", ()))
            seen.append([type(error).__name__, str(error).partition("\n")[0], held, told])
    return [seen, await store.read(names)]


async def order(store: Store) -> object:
    """Jobs sent while the writer process is busy run in order, even if their callers are cancelled."""
    ended: list[str] = []

    async def one(name: str) -> None:
        ended.append(await store.write(partial(register, name=name)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.write, partial(rest, seconds=0.2))
        nursery.start_soon(store.write, partial(echo, large=bytes(LARGE)))
        await wait_all_tasks_blocked()
        with trio.CancelScope() as scope:
            scope.cancel()
            await store.write(partial(register, name="gone"))
        for number in range(20):
            nursery.start_soon(one, f"bot{number:02}")
            await wait_all_tasks_blocked()
    return [sorted(ended), await store.read(names)]


async def last(store: Store) -> object:
    """Jobs are stored when the store is closed, although no task waits for them and most bytes are still unsent."""
    busy, large = partial(rest, seconds=0.2), partial(echo, large=bytes(LARGE))
    for job in (busy, large, partial(register, name="Ada"), partial(register, name="Bob")):
        with trio.CancelScope() as scope:
            scope.cancel()
            await store.write(job)
    return store


async def death(store: Store) -> object:
    """The end of the writer process fails every waiting job and ends the program."""
    seen: list[str] = []

    async def one(job: Callable[[Connection], object]) -> None:
        try:
            await store.write(job)
        except StoreError as error:
            seen.append(f"{type(error).__name__}: {error}")

    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, partial(end, after=0.2))
            await wait_all_tasks_blocked()
            nursery.start_soon(one, partial(echo, large=bytes(LARGE)))  # the writer process reads none of this data
        await one(partial(register, name="Ada"))
        print(json.dumps(seen), flush=True)
    await trio.sleep_forever()


async def main(case: str, directory: Path, writer_process: WriterProcess | None) -> None:
    async with open_store(directory, NOW, writer_process) as store:
        seen = await {"results": results, "order": order, "last": last, "death": death}[case](store)
    if isinstance(seen, Store):
        try:
            await seen.write(partial(register, name="Eve"))
        except StoreClosed:
            with open_readonly(directory) as connection:
                seen = names(connection)
    print(json.dumps(seen))


if __name__ == "__main__":
    with fork_writer_process() as helper:
        trio.run(main, sys.argv[1], Path(sys.argv[2]), helper)
