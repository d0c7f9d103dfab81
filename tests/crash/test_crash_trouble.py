"""A full disk and a locked database. No match is lost or changed, and play continues after the trouble."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.store.base.directory import database_of
from tests.crash.crash_rig import Trial, seed, trial

NOT_WRITTEN = ("journal not written yet", "match not begun")
"""Log events about unwritten data. The second occurs if no match is running at that moment."""
NOT_STORED = "result not stored yet"


@contextmanager
def playing(directory: Path, data: Path | None = None) -> Iterator[Trial]:
    with trial(directory, seed(), bots=4, capacity=4, data=data) as it:
        it.begin()
        it.progress(5)
        yield it


def _largest_file(it: Trial, size: int) -> None:
    """Limit the size of every file that the server writes."""
    assert it.server is not None
    resource.prlimit(it.server, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_journal_that_cannot_grow_stops_play_and_loses_nothing(tmp_path: Path) -> None:
    with playing(tmp_path) as it:
        for dies in (False, True):
            size = max(path.stat().st_size for path in (it.data / "journal").iterdir())
            _largest_file(it, size + 1000)
            it.says(*NOT_WRITTEN)
            it.silence()
            it.look()
            if dies:
                it.kill()
                it.start()
                assert it.listens(), it.last_words
            else:
                _largest_file(it, resource.RLIM_INFINITY)
            it.progress(5)
        it.stop()
        it.finish()


@pytest.mark.long
def test_a_full_disk_stops_play_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        _fill_up(tmp_path, disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _fill_up(directory: Path, disk: Path) -> None:
    ballast = disk / "ballast"
    with playing(directory, disk / "data") as it:
        for dies in (False, True):
            _take_all_room(ballast)
            it.says(*NOT_WRITTEN)
            it.silence()
            it.look()
            if dies:
                it.kill()
                it.start()
                assert not it.listens(), "a server that cannot write does not begin"
                it.refused("no room left on the disk")
            ballast.unlink()
            if dies:
                it.start()
                assert it.listens(), it.last_words
            it.progress(5)
        it.stop()
        it.finish()


def _take_all_room(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


@pytest.mark.long
def test_a_locked_database_holds_up_results_only(tmp_path: Path) -> None:
    with playing(tmp_path) as it:
        for dies in (False, True):
            with database_of(it.data).writing(beside=False).begin() as connection:
                connection.execute(select(1))  # In PostgreSQL the first statement takes the lock.
                if dies:
                    it.silence()  # every match has ended, but no result is stored
                    it.look()
                    it.kill()
                    it.start()
                else:
                    it.says(NOT_STORED)
                    it.look()
            if dies:
                assert it.listens(), it.last_words
            it.progress(5)
        it.stop()
        it.finish()
