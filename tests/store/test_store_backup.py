"""Backups of real directories are complete and checked, or refused by name. They overwrite nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.match.inputs import Begun, Instant
from arena.store import schema
from arena.store.backup import MANIFEST, UNFINISHED, Backup, back_up, restore, thin_out
from arena.store.base.directory import operator_token
from arena.store.base.errors import BackupUnusable, PathTaken, StoreNewer, StoreTooOld, StoreUnusable
from arena.store.matches import matches
from arena.store.opening import open_readonly
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, audit, begin, finish
from tests.store.test_store_journal import header


async def make(directory: Path, to: Path) -> Backup:
    """Back up an open store with a finished and a running match, and change the store afterwards."""
    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        first = await store.write(lambda connection: begin(connection, players))
        await store.write(lambda connection: finish(connection, first, [1, 2]))
        running = header(2, started=NOW)
        store.journal.begin(running)
        await store.write(lambda connection: begin(connection, players))
        store.journal.add(running, Begun(Instant(0)))
        store.journal.commit()
        made = back_up(directory, to, NOW + 5)
        third = await store.write(lambda connection: begin(connection, players))
        await store.write(lambda connection: finish(connection, third, [1, 2]))
    return made


async def test_what_was_there_at_its_moment_is_restored(directory: Path, tmp_path: Path) -> None:
    made = await make(directory, tmp_path / "backup")
    assert (made.matches, made.running, made.replays, made.at) == (1, 1, 1, NOW + 5)
    assert made.bytes == sum(path.stat().st_size for path in (tmp_path / "backup").rglob("*") if path.is_file()) - (
        (tmp_path / "backup" / MANIFEST).stat().st_size
    )
    restored = tmp_path / "restored"
    assert restore(tmp_path / "backup", restored, NOW) == made
    with open_readonly(restored) as connection:
        assert audit(connection) == {1}
    async with open_store(restored, NOW) as store:
        assert await store.read(matches.playing) == (2,)
        assert [len(lines) for lines in store.unfinished.values()] == [2]
        assert store.operator_token == operator_token(directory)
        assert await store.read(audit) == {1}


async def test_backup_and_restored_directory_are_for_their_user_alone(directory: Path, tmp_path: Path) -> None:
    await make(directory, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored", NOW)
    for made in (tmp_path / "backup", tmp_path / "restored"):
        paths = [made, *made.rglob("*")]
        assert {path.name for path in paths} >= {"arena.db", "operator.token", "journal", "00000001.log"}
        assert {path.stat().st_mode & 0o777 for path in paths if path.is_dir()} == {0o700}
        assert {path.stat().st_mode & 0o777 for path in paths if path.is_file()} == {0o600}


@pytest.mark.sqlite_only("the replays are rows, not files")
async def test_all_of_a_backup_and_of_a_restored_directory_is_on_the_disk_before_it_has_its_name(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, named = os.fsync, tmp_path / "backup"
    before: dict[int, int] = {}
    after: list[int] = []

    def recorded(descriptor: int) -> None:
        """Sync a file. Record the file, its size, and whether the sync was in time."""
        sync(descriptor)
        about = os.fstat(descriptor)
        if named.exists():
            after.append(about.st_ino)
        else:
            before[about.st_ino] = about.st_size

    monkeypatch.setattr(os, "fsync", recorded)
    for name in ("backup", "restored"):
        named = tmp_path / name
        before.clear()
        if name == "backup":
            await make(directory, named)
        else:
            restore(tmp_path / "backup", named, NOW)
        paths = [path for path in (named, *named.rglob("*")) if path.name != "arena.lock"]
        assert {path.name for path in paths} >= {"arena.db", "log.key", "journal", "00000001.log", "00000001.gz"}
        assert [path for path in paths if path.stat().st_ino not in before] == []
        for path in filter(Path.is_file, paths):
            if name == "backup" or path.name != "arena.db":  # SQLite adds a leaf to the file and syncs it
                assert (path, before[path.stat().st_ino]) == (path, path.stat().st_size)
        assert after[-1] == tmp_path.stat().st_ino, "the name itself"


async def test_nothing_is_overwritten(directory: Path, tmp_path: Path) -> None:
    backup, empty = tmp_path / "backup", tmp_path / "empty"
    await make(directory, backup)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(PathTaken):
        back_up(directory, backup, NOW)
    with pytest.raises(PathTaken):
        restore(backup, directory, NOW)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(PathTaken):
        restore(backup, tmp_path / "file", NOW)
    (tmp_path / "file").unlink()
    assert sorted(tmp_path.iterdir()) == before
    empty.mkdir()
    restore(backup, empty, NOW)
    assert (empty / "arena.db").exists()


async def test_a_backup_that_fails_leaves_nothing(directory: Path, tmp_path: Path) -> None:
    await make(directory, tmp_path / "backup")

    def stop(done: int, whole: int) -> None:
        assert len(list(tmp_path.glob(f"other{UNFINISHED}*"))) == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(directory, tmp_path / "other", NOW, stop)
    with pytest.raises(KeyboardInterrupt):
        restore(tmp_path / "backup", tmp_path / "other", NOW, stop)
    assert list(tmp_path.glob("other*")) == []
    with pytest.raises(StoreUnusable):
        back_up(tmp_path / "nothing", tmp_path / "other", NOW)
    assert list(tmp_path.glob("other*")) == []


@pytest.mark.parametrize("name", ["arena.db", "operator.token", "journal/00000001.log", MANIFEST])
async def test_a_damaged_backup_is_refused_by_name(directory: Path, tmp_path: Path, name: str) -> None:
    backup = tmp_path / "backup"
    await make(directory, backup)
    content = (backup / name).read_bytes()
    for harmed in (content[:-3], content[:20] + bytes([content[20] ^ 1]) + content[21:]):
        (backup / name).write_bytes(harmed)
        with pytest.raises(BackupUnusable, match=Path(name).name):
            restore(backup, tmp_path / "restored", NOW)
    (backup / name).unlink()
    with pytest.raises(BackupUnusable, match=Path(name).name):
        restore(backup, tmp_path / "restored", NOW)
    assert list(tmp_path.glob("restored*")) == []


async def test_what_is_no_finished_backup_is_refused_by_name(directory: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    await make(directory, backup)
    unfinished = tmp_path / f"backup{UNFINISHED}abc"
    shutil.copytree(backup, unfinished)
    with pytest.raises(BackupUnusable, match="it is unfinished"):
        restore(unfinished, tmp_path / "restored", NOW)
    with pytest.raises(BackupUnusable, match=rf"it has no {MANIFEST}"):
        restore(directory, tmp_path / "restored", NOW)
    manifest = json.loads((backup / MANIFEST).read_text())
    for key, value, error in (
        ("arena_backup", 99, BackupUnusable),
        ("schema", "9999", StoreNewer),
        ("schema", "0016", StoreTooOld),
        ("schema", "0024", StoreTooOld),
        ("files", [["../escaped", 1, "00"]], BackupUnusable),
    ):
        (backup / MANIFEST).write_text(json.dumps(manifest | {key: value}))
        with pytest.raises(error):
            restore(backup, tmp_path / "restored", NOW)
    assert list(tmp_path.glob("restored*")) == []


async def test_the_moment_of_a_backup_is_that_of_its_beginning(directory: Path, tmp_path: Path) -> None:
    """The amount of data written during the copy has no effect."""
    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
    told = []

    def write_more(done: int, whole: int) -> None:
        told.append((done, whole))
        if len(told) == 1:
            from arena.store.opening import open_to_amend

            with open_to_amend(directory) as connection:
                finish(connection, begin(connection, players), [1, 2])

    back_up(directory, tmp_path / "backup", NOW, write_more)
    assert told
    assert told[-1][0] == told[-1][1]
    restore(tmp_path / "backup", tmp_path / "restored", NOW)
    with open_readonly(tmp_path / "restored") as connection:
        assert connection.execute(select(schema.matches)).all() == []
    with open_readonly(directory) as connection:
        assert audit(connection) == {1}


async def test_only_the_oldest_complete_backups_of_a_folder_are_deleted(directory: Path, tmp_path: Path) -> None:
    async with open_store(directory, NOW):
        pass
    backups = tmp_path / "backups"
    backups.mkdir()
    for name, at in (("c", NOW + 1), ("a", NOW + 2), ("b", NOW + 3), ("newest", NOW + 4)):
        back_up(directory, backups / name, at)
    others = {"notes", f"d{UNFINISHED}1", "damaged"}
    for name in others:
        (backups / name).mkdir()
    (backups / "damaged" / MANIFEST).write_text("{")
    assert thin_out(backups / "newest", 9) == []
    assert thin_out(backups / "newest", 2) == [backups / "c", backups / "a"]
    assert {path.name for path in backups.iterdir()} == {"b", "newest", *others}
    back_up(directory, backups / "clock set back", NOW)
    assert thin_out(backups / "clock set back", 2) == [backups / "b"]
    assert {path.name for path in backups.iterdir()} == {"clock set back", "newest", *others}
    restore(backups / "newest", tmp_path / "restored", NOW)
