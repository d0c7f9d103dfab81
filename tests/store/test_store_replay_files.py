"""Replay files: rows refer only to synced bytes, and damage affects as few replays as possible."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from sqlalchemy import select

from arena.replay.hash_chain import pack_replay
from arena.store import backup, schema
from arena.store.backup import back_up, restore
from arena.store.base.errors import ReplayDamaged, StoreReplaced, StoreUnusable
from arena.store.log.audit import audit as audit_log
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from arena.store.replays import replays
from arena.store.replays.files import disk_use
from arena.store.store import MOVING, FilesFound, open_store
from tests.store.jobs import GAME, NOW, add_bots, begin, finish
from tests.store.recorded import oldest_database

pytestmark = pytest.mark.sqlite_only("the replays are rows, not files")

PIECE = 5000


def play(data: Path, count: int) -> None:
    """Store a number of matches, each with a different readable replay."""
    with open_to_amend(data) as connection:
        players = matches.seated(connection, 1) if matches.newest(connection) else ()
        seats = [bot.id for bot in players] or add_bots(connection, "Ada", "Bob")
        for number in range(count):
            match_id = begin(connection, seats)
            packed = pack_replay([f'{{"match":{match_id},"noise":"{Random(number).randbytes(PIECE).hex()}"}}'])
            matches.finish(
                connection,
                match_id,
                scores=[2, 1],
                places=[1, 2],
                forced=[0, 0],
                counts=[True, True],
                at=NOW,
                replay=lambda _, packed=packed: packed,  # type: ignore[misc]
            )


def segments(data: Path) -> list[Path]:
    return sorted((data / "replays").iterdir())


def damaged(data: Path) -> dict[int, str]:
    """Return the finished matches with damaged replays, each with the reason."""
    found = {}
    with open_readonly(data) as connection:
        for match in matches.list_matches(connection, limit=1000):
            if match.pruned:
                continue
            try:
                assert replays.content(connection, match.match_id)
            except ReplayDamaged as error:
                found[error.match_id] = error.reason
    return found


async def start(data: Path) -> FilesFound:
    async with open_store(data, NOW) as store:
        return store.files


@pytest.fixture
def played(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Store matches 1 to 9 in three segments of three replays each."""
    monkeypatch.setattr("arena.store.replays.files.FULL", 2 * PIECE + PIECE // 2)
    play(data, 9)
    assert len(segments(data)) == 3
    assert damaged(data) == {}
    return data


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def shut_off(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("harm", "lost", "why"),
    [
        (flip, {5}, "its SHA-256 does not agree"),
        (cut, {6}, "{} is cut short"),
        (Path.unlink, {4, 5, 6}, "{} is missing"),
        (shut_off, {4, 5, 6}, "{}: Is a directory"),
    ],
)
async def test_a_harmed_file_costs_the_replays_in_it_by_name_and_nothing_else(
    played: Path, tmp_path: Path, harm: object, lost: set[int], why: str
) -> None:
    assert callable(harm)
    path = segments(played)[1]
    harm(path)
    reasons = dict.fromkeys(lost, why.format(path))
    assert damaged(played) == reasons
    with open_readonly(played) as connection:
        faults = [fault.text for fault in audit_log(connection, replays=True).faults]
        assert len([fault for fault in faults if "the stored replay of match" in fault]) == len(lost)
        assert len(disk_use(connection, played).replays) == 1
    assert [segment.path for segment in (await start(played)).broken] == ([] if harm is flip else [path])
    play(played, 1)
    assert damaged(played) == reasons, "and what comes is kept"
    back_up(played, tmp_path / "backup", NOW)
    restore(tmp_path / "backup", tmp_path / "restored", NOW)
    assert damaged(tmp_path / "restored").keys() == lost
    shutil.rmtree(played / "replays")
    assert damaged(played).keys() == {*range(1, 11)}
    assert [segment.number for segment in (await start(played)).broken] == [1, 2, 3, 4]
    play(played, 1)
    assert damaged(played).keys() == {*range(1, 11)}


async def test_a_segment_that_was_cut_short_is_not_added_to(played: Path) -> None:
    """New replays in it would take the place of lost replays that a backup might restore."""
    newest = segments(played)[-1]
    whole = newest.read_bytes()
    cut(newest)
    play(played, 1)
    assert damaged(played).keys() == {9}
    newest.write_bytes(whole)
    assert damaged(played) == {}


async def test_a_start_removes_what_no_row_names(played: Path) -> None:
    files = {path: path.read_bytes() for path in segments(played)}
    torn, orphan = [*files][-1], played / "replays" / "00000004.gz"
    torn.write_bytes(files[torn] + b"written, and not committed")
    orphan.write_bytes(b"the same, of a new file")
    assert (await start(played)).broken == ()
    assert {path: path.read_bytes() for path in segments(played)} == files
    play(played, 2)
    assert damaged(played) == {}


async def test_what_a_killed_transaction_wrote_is_written_over(data: Path) -> None:
    play(data, 1)
    (path,) = segments(data)
    path.write_bytes(path.read_bytes() + bytes(3 * PIECE))
    play(data, 1)
    assert damaged(data) == {}


async def test_a_file_that_is_replaced_under_the_server_ends_it_and_nothing_is_told(data: Path) -> None:
    async with open_store(data, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        first = await store.write(lambda connection: begin(connection, players))
        await store.write(lambda connection: finish(connection, first, [1, 2]))
        segments(data)[0].rename(data / "elsewhere")
        second = await store.write(lambda connection: begin(connection, players))
        with pytest.raises(StoreReplaced, match=r"00000001.gz was deleted or replaced"):
            await store.write(lambda connection: finish(connection, second, [1, 2]))
        with pytest.raises(StoreReplaced):
            await store.watch()
        assert await store.read(matches.playing) == (second,)


async def test_rows_name_only_what_is_on_the_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sync precedes the commit, one sync for all results of a transaction. A failed sync rolls back the
    transaction.
    """
    synced: list[tuple[int, int]] = []
    fails = False

    def sync(descriptor: int) -> None:
        if fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        with open_readonly(data) as connection:  # the committed rows
            synced.append((os.fstat(descriptor).st_size, len(connection.execute(select(schema.replays)).all())))

    monkeypatch.setattr("arena.store.replays.files._sync", sync)
    sizes = [0]
    for number in (3, 1):
        play(data, number)
        sizes.append(segments(data)[0].stat().st_size)
    assert synced == [(sizes[1], 0), (sizes[2], 3)]
    fails = True
    with pytest.raises(StoreUnusable, match="Input/output error"):
        play(data, 1)
    fails = False
    assert damaged(data) == {}
    with open_readonly(data) as connection:
        assert matches.newest(connection) == 4


def test_a_backup_while_files_are_pruned_has_every_replay_that_it_names(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, pruned = backup._copy_replays, list[int]()

    def prune_meanwhile(*arguments: Any) -> None:
        if not pruned:
            with open_to_amend(played) as connection:
                pruned.extend(replays.prune(connection, 3, NOW))
        copy(*arguments)

    monkeypatch.setattr(backup, "_copy_replays", prune_meanwhile)
    made = back_up(played, tmp_path / "backup", NOW)
    assert pruned == [1, 2, 3, 4, 5, 6]
    assert made.replays == 3
    restore(tmp_path / "backup", tmp_path / "restored", NOW)
    assert damaged(tmp_path / "restored") == {}
    assert [path.name for path in segments(tmp_path / "restored")] == ["00000003.gz"]


# --- upgrades ---


def old(directory: Path, count: int) -> None:
    """A directory of an older program. The database contains the replays of two games, every fifth of them pruned."""
    with oldest_database(directory) as database:
        for bot in (1, 2):
            database.execute(
                "INSERT INTO bots (id, name, key, owner, house, registered) VALUES (?, ?, ?, '', 0, 1)",
                (bot, f"Bot{bot}", f"bot{bot}"),
            )
            database.execute("INSERT INTO names VALUES (?, ?)", (f"bot{bot}", bot))
            database.execute("INSERT INTO versions (id, bot_id, version, created) VALUES (?, ?, '', 1)", (bot, bot))
        for number in range(1, count + 1):
            game = GAME if number % 3 else "skat"
            database.execute(
                "INSERT INTO matches (id, game, options, seats, state, started, ended, reason, kind)"
                " VALUES (?, ?, '{}', 2, 'finished', 1, ?, '', 'casual')",
                (number, game, number),
            )
            database.executemany(
                "INSERT INTO match_seats (match_id, seat, bot_id, node, score, place, forced)"
                " VALUES (?, ?, ?, ?, 1, 1, 0)",
                [(number, seat, seat + 1, seat + 1) for seat in (0, 1)],
            )
            content = b"" if number % 5 == 0 else kept(number)
            database.execute(
                "INSERT INTO replays (match_id, content, sha256, segment) VALUES (?, ?, ?, ?)",
                (number, content, sha256(kept(number)).digest(), 0 if content else None),
            )
        database.execute(
            "INSERT INTO replay_segments SELECT 0, game, sum(length(content) > 0), sum(length(content) = 0),"
            " sum(length(content)), 0 FROM replays JOIN matches ON matches.id = match_id GROUP BY game"
        )


def kept(number: int) -> bytes:
    return pack_replay([f'{{"match":{number},"noise":"{Random(number).randbytes(6 * PIECE).hex()}"}}']).content


def moved(data: Path, count: int) -> int:
    """Return the number of replays in files. Check that each replay is complete and counted."""
    in_files = 0
    with open_readonly(data) as connection:
        rows = connection.execute(select(schema.replays)).all()
        assert len(rows) == count
        for row in rows:
            assert (row.segment is None) == (row.match_id % 5 == 0)
            if row.segment is not None:
                assert replays.content(connection, row.match_id) == kept(row.match_id)
                assert bool(row.content) == (row.segment == 0)
                in_files += row.segment > 0
        use = {each.game: each for each in disk_use(connection, data).replays}
        whole = sum(len(kept(number)) for number in range(1, count + 1) if number % 5)
        assert sum(each.bytes for each in use.values()) == whole
        assert sum(each.kept for each in use.values()) == count - count // 5
        assert sum(each.pruned for each in use.values()) == count // 5
        assert use["skat"].kept == len([number for number in range(3, count + 1, 3) if number % 5])
    return in_files


async def test_replays_of_an_old_directory_are_moved_and_it_says_how_far_it_is(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.store.replays.replays.AT_ONCE", 4)
    old(directory, 20)
    before = (directory / "arena.db").stat().st_size
    monkeypatch.setattr("arena.store.sqlite.engine._WORTH_COMPACTING", 4096)
    told: list[tuple[str, int, int]] = []
    for _ in range(2):
        async with open_store(directory, NOW, progress=lambda *how_far: told.append(how_far)) as store:
            assert (store.files.broken, store.files.in_database) == ((), 0)
    assert [each for each in told if each[0] == MOVING] == [(MOVING, done, 16) for done in (4, 8, 12, 16)]
    assert moved(directory, 20) == 16
    assert before - (directory / "arena.db").stat().st_size > 10 * PIECE, "its room is given back"
    play(directory, 1)
    assert damaged(directory).keys() == set()


async def test_replays_stay_in_the_database_where_there_is_no_room_for_both(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old(directory, 20)
    with monkeypatch.context() as full:
        full.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 0))
        assert (await start(directory)).in_database == 16
    assert moved(directory, 20) == 0
    play(directory, 1)
    with open_to_amend(directory) as connection:
        assert len(replays.prune(connection, 5, NOW)) == 13
        assert [row.kept for row in disk_use(connection, directory).replays] == [1, 3]
    assert (await start(directory)).in_database == 0
    assert damaged(directory) == {}


KILLED: Final = """
import sys
from pathlib import Path
import trio
from arena.store.replays import replays as replay_move
from arena.store.store import MOVING, open_store
from tests.store.jobs import NOW

def told(what, done, whole):
    if what == MOVING:
        print(done, flush=True)
        sys.stdin.readline()

async def main():
    async with open_store(Path(sys.argv[1]), NOW, progress=told):
        print("open", flush=True)

replay_move.AT_ONCE = 3
trio.run(main)
"""


@pytest.mark.process
def test_a_kill_while_replays_are_moved_loses_none(directory: Path) -> None:
    old(directory, 20)
    for steps in (1, 2, 1, 9):
        with subprocess.Popen(
            [sys.executable, "-W", "error", "-c", KILLED, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(steps):
                if process.stdout.readline() in {"open\n", ""}:
                    break
                process.stdin.write("\n")
                process.stdin.flush()
            process.kill()
        if steps < 9:
            assert 3 <= moved(directory, 20) < 16
    assert moved(directory, 20) == 16
