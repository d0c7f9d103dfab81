"""Open files that are deleted or replaced. This is detected at the next commit, or else within a second."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from arena.store.base.directory import OpenFiles
from arena.store.base.errors import StoreReplaced
from arena.store.opening import open_readonly
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, audit


def test_files_that_stay_are_fine_whatever_is_written(tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "other"]
    for path in paths:
        path.write_text("a")
    files = OpenFiles(paths)
    paths[1].write_text("b")
    files.check()
    paths[1].unlink()
    with pytest.raises(StoreReplaced) as caught:
        files.check()
    assert caught.value.path == paths[1]
    paths[1].write_text("b")
    paths[0].rename(paths[1])
    with pytest.raises(StoreReplaced):
        files.check()


def test_a_file_that_was_not_there_is_not_the_one_that_comes(tmp_path: Path) -> None:
    files = OpenFiles([tmp_path / "late"])
    (tmp_path / "late").touch()
    with pytest.raises(StoreReplaced):
        files.check()


@pytest.mark.parametrize("name", ["arena.db", "arena.db-wal", "arena.db-shm"])
@pytest.mark.sqlite_only("it removes the database's files")
async def test_a_commit_to_a_file_that_is_gone_fails(directory: Path, name: str) -> None:
    async with open_store(directory, NOW) as store:
        assert len(await store.write(lambda connection: add_bots(connection, "Ada"))) == 1
        (directory / name).unlink()
        with pytest.raises(StoreReplaced) as caught:
            await store.write(lambda connection: add_bots(connection, "Bob"))
        assert caught.value.path == directory / name
        with pytest.raises(StoreReplaced):
            await store.watch()


@pytest.mark.parametrize("name", ["arena.db", "journal/00000001.log"])
@pytest.mark.sqlite_only("it replaces the database's file")
async def test_a_file_that_is_replaced_is_noticed_within_a_second_though_nothing_is_written(
    directory: Path, name: str, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    noticed = trio.Event()
    async with open_store(directory, NOW) as store:

        async def watch() -> None:
            with pytest.raises(StoreReplaced):
                await store.watch()
            noticed.set()

        nursery.start_soon(watch)
        await trio.sleep(60)
        assert not noticed.is_set()
        shutil.copy(directory / name, directory / "copy")
        (directory / "copy").rename(directory / name)
        with trio.fail_after(1):
            await noticed.wait()


@pytest.mark.sqlite_only("it removes the database's file")
async def test_a_first_start_that_died_before_the_journal_is_begun_again(directory: Path) -> None:
    async with open_store(directory, NOW):
        pass
    shutil.rmtree(directory / "journal")
    (directory / "arena.db").unlink()
    async with open_store(directory, NOW):
        pass
    with open_readonly(directory) as connection:
        assert audit(connection) == set()
