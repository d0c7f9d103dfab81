"""The data directory: created if missing, refused if unusable, and locked against a second server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.store.base.errors import StoreLocked, StoreUnusable
from arena.store.store import open_store

SERVER = """
import sys, trio
from pathlib import Path
from arena.store.store import open_store

async def main():
    async with open_store(Path(sys.argv[1]), 1):
        print("open", flush=True)
        await trio.to_thread.run_sync(sys.stdin.read)

trio.run(main)
"""


@contextmanager
def server(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Run another process that has the directory open until its input ends."""
    command = [sys.executable, "-W", "error", "-c", SERVER, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            yield process
        finally:
            process.kill()


@pytest.mark.process
async def test_a_second_server_is_refused_and_told_who_is_in(directory: Path) -> None:
    with server(directory) as other:
        with pytest.raises(StoreLocked) as caught:
            async with open_store(directory, 2):
                pass
        assert (caught.value.directory, caught.value.pid) == (directory, other.pid)
        assert str(other.pid) in str(caught.value)
        assert str(directory) in str(caught.value)


@pytest.mark.process
async def test_a_second_server_process_ends_with_the_named_error(directory: Path) -> None:
    async with open_store(directory, 2):
        command = [sys.executable, "-W", "error", "-c", SERVER, str(directory)]
        second = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert second.returncode == 1
    assert f"StoreLocked: {directory} is in use by the server with process id {os.getpid()}" in second.stderr


@pytest.mark.process
async def test_the_lock_goes_with_a_stopped_server(directory: Path) -> None:
    with server(directory) as other:
        other.communicate("")
        assert other.returncode == 0
    async with open_store(directory, 2):
        pass


@pytest.mark.process
async def test_the_lock_goes_with_a_killed_server(directory: Path) -> None:
    with server(directory) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
    async with open_store(directory, 2):
        with pytest.raises(StoreLocked) as caught:
            async with open_store(directory, 3):
                pass
    assert caught.value.pid == os.getpid()


async def test_a_lock_without_a_process_id_is_waited_for_as_long_as_a_writer_process_may_take(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.base.lock._LAST_WRITES", 0.05)
    async with open_store(directory, 2):
        os.truncate(directory / "arena.lock", 0)
        with pytest.raises(StoreLocked, match="another server") as caught:
            async with open_store(directory, 3):
                pass
    assert caught.value.pid is None


async def test_a_missing_directory_is_made_for_its_user_alone(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "100% data?"
    async with open_store(directory, 1):
        assert directory.stat().st_mode & 0o777 == 0o700
        assert (directory / "arena.db").is_file()


@pytest.mark.parametrize("inside", [".", "data"])
async def test_a_file_is_not_a_data_directory(tmp_path: Path, inside: str) -> None:
    file = tmp_path / "file"
    file.write_text("hello")
    with pytest.raises(StoreUnusable, match="not a directory") as caught:
        async with open_store(file / inside, 1):
            pass
    assert caught.value.path == file / inside
    assert file.read_text() == "hello"


@contextmanager
def powerless() -> Iterator[None]:
    """Run as a user other than root, because permissions do not restrict root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


async def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    directory.chmod(0o555)
    with powerless(), pytest.raises(StoreUnusable, match="Permission denied") as caught:
        async with open_store(directory, 1):
            pass
    assert caught.value.path == directory
    assert list(directory.iterdir()) == []


async def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with powerless(), pytest.raises(StoreUnusable, match="Permission denied"):
        async with open_store(tmp_path / "data", 1):
            pass


@pytest.mark.sqlite_only("it replaces the database's file")
async def test_a_database_that_cannot_be_opened(directory: Path) -> None:
    (directory / "arena.db").mkdir(parents=True)
    with pytest.raises(StoreUnusable, match="unable to open database file"):
        async with open_store(directory, 1):
            pass
