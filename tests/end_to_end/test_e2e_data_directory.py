"""A damaged, lost or exchanged data directory. The server reports the damage and announces no result that is not
stored.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.store.base.rows import Interruption, MatchState
from arena.store.matches import matches
from arena.store.opening import open_readonly
from tests.end_to_end.e2e_rig import Crowd, audit, failing_server, server, tail, until
from tests.end_to_end.test_e2e_stop import all_playing


def delete(data: Path) -> None:
    for path in data.glob("arena.db*"):
        path.unlink()


def replace(data: Path) -> None:
    """Replace the database with a copy of it, the newest possible."""
    shutil.copy(data / "arena.db", data / "copy")
    (data / "copy").rename(data / "arena.db")


def delete_log(data: Path) -> None:
    (data / "arena.db-wal").unlink()


def delete_journal(data: Path) -> None:
    for path in (data / "journal").glob("*.log"):
        path.unlink()


def delete_replays(data: Path) -> None:
    (data / "replays" / "00000001.gz").unlink()


def move(data: Path) -> None:
    data.rename(data.with_name("elsewhere"))


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (delete, "arena.db"),
        (replace, "arena.db"),
        (delete_log, "arena.db-wal"),
        (delete_journal, "journal/00000001.log"),
        (delete_replays, "replays/00000001.gz"),
        (move, "arena.db"),
    ],
)
def test_a_server_ends_when_its_files_are_gone_and_no_result_is_told_that_is_not_stored(
    tmp_path: Path, harm: Callable[[Path], None], named: str
) -> None:
    data, copy = tmp_path / "data", tmp_path / "as it was"
    with server(data) as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        until(lambda: crowd.bots[0].reports, "a result")
        stopped = (arena.process.pid, arena.writer_process)
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        shutil.copytree(data, copy, ignore=NO_SOCKET)
        harm(data)
        for process in stopped:
            os.kill(process, signal.SIGCONT)
        assert arena.ended() == 1
        # if the whole directory is missing, the error names the file that the server checks first
        missing = [named, "replays/00000001.gz"] if harm is move else [named]
        assert any(
            f"{data / file} was deleted or replaced while the server had it open" in arena.log for file in missing
        )
        told = {report.match_id for bot in crowd.bots for report in bot.reports if not report.interrupted}
    # If the database still exists, it may contain more results than the copy.
    if harm is delete_replays:
        with open_readonly(data) as connection:
            rows = matches.list_matches(connection, limit=1000)
        stored = {match.match_id for match in rows if match.state is MatchState.FINISHED}
    else:
        stored = {match.match_id for match in audit(data if harm is delete_journal else copy).finished}
    assert told <= stored


def test_a_database_that_is_gone_while_nothing_is_played_ends_the_server(tmp_path: Path) -> None:
    with server(tmp_path / "data") as arena:
        delete(arena.data)
        assert arena.ended() == 1, "how soon, the store's own tests say"
        assert "was deleted or replaced" in arena.log


NO_SOCKET = shutil.ignore_patterns("*.socket")


def left_behind(data: Path) -> Path:
    """Return a data directory with running matches, after its server was killed."""
    with server(data) as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        until(lambda: crowd.bots[0].reports, "a result")
        answered = crowd.bots[0].answered
        until(lambda: crowd.bots[0].answered > answered + 20, "some answers of later matches")
        arena.kill()
    return data


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return left_behind(tmp_path_factory.mktemp("left") / "data")


@pytest.fixture
def data(left: Path, tmp_path: Path) -> Path:
    """Return a copy of the data directory of a server that was killed during matches."""
    return shutil.copytree(left, tmp_path / "data", ignore=NO_SOCKET)


def files(data: Path) -> dict[str, bytes]:
    """Return the directory's files, except those that a database reader leaves behind."""
    left = {"arena.lock", "arena.db-wal", "arena.db-shm"}
    found = (path for path in data.rglob("*") if path.is_file() and path.name not in left)
    return {str(path.relative_to(data)): path.read_bytes() for path in found}


def other_migrated(path: Path) -> None:
    """Create the database of another program that also uses Alembic."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('ae1027a6acf')")
    database.close()


def without_tables(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
    database.close()


def test_a_database_that_is_none_of_the_directorys_is_refused_and_nothing_is_changed(data: Path, left: Path) -> None:
    makes: dict[str, Callable[[Path], None]] = {
        r"is missing or empty, but .*journal shows that a server has used this directory": lambda path: None,
        r"arena.db is missing or empty, but": lambda path: path.touch(),
        r"missing or empty, but .* put the database back or": without_tables,
        r"arena.db is damaged or not an arena database \(.*the schema 'ae1027a6acf'": other_migrated,
    }
    for why, make in makes.items():
        delete(data)
        make(data / "arena.db")
        before = files(data)
        status, said = failing_server("--data", str(data), "--address", "127.0.0.1:0")
        assert (status, bool(re.search(why, said))) == (1, True), (why, said)
        assert files(data) == before
    delete(data)
    for path in left.glob("arena.db*"):
        shutil.copy(path, data)
    with server(data, "--drain", "0") as arena:
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
    assert audit(data).interrupted == []


def test_a_file_of_replays_that_is_lost_is_named_at_the_start_and_nothing_else_is(data: Path) -> None:
    with open_readonly(data) as connection:
        playing = matches.playing(connection)
    (data / "replays" / "00000001.gz").unlink()
    with server(data, "--drain", "0") as arena:
        with open_readonly(data) as connection:
            assert matches.playing(connection) == playing
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
    assert re.search(r'"file": "[^"]*/replays/00000001\.gz", .*"a file of replays is missing or cut short', arena.log)


def test_a_journal_of_another_database_is_refused_and_kept(data: Path, tmp_path: Path) -> None:
    one, other = data, left_behind(tmp_path / "other")
    with open_readonly(one) as connection:
        playing = set(matches.playing(connection))
    with open_readonly(other) as connection:
        playing &= set(matches.playing(connection))
    assert playing, "both have matches of these numbers"
    shutil.rmtree(one / "journal")
    shutil.copytree(other / "journal", one / "journal")
    before = files(one / "journal")
    status, said = failing_server("--data", str(one), "--address", "127.0.0.1:0")
    assert status == 1
    assert re.search(rf"{one / 'journal'} is of another database: its match \d+ is not the match \d+ there", said)
    assert files(one / "journal") == before
    with open_readonly(one) as connection:
        assert playing <= set(matches.playing(connection)), "no match was ended by it"


@pytest.mark.parametrize("changed", [1, 2])
def test_a_changed_byte_of_the_journal_costs_nothing_and_what_more_costs_is_named(data: Path, changed: int) -> None:
    path = max((data / "journal").rglob("*.log"), key=lambda path: path.stat().st_size)  # one journal per process
    with open_readonly(data) as connection:
        playing = {*matches.playing(connection)}
    content = path.read_bytes()
    lines = [line.start() for line in re.finditer(rb'(?m)^(\d+) \{"in"', content) if int(line[1]) in playing]
    at = lines[len(lines) // 2] + 20  # not in the last turn, which may be incomplete
    following = re.compile(rb"(?m)^[0-9a-f]{8} \d+$").search(content, at)
    assert following is not None, "there is a later block"
    begun = {match for match in playing if 0 <= content.find(b'\n%d {"arena_replay"' % match) < following.start()}
    assert begun
    path.write_bytes(content[:at] + bytes([byte ^ 1 for byte in content[at : at + changed]]) + content[at + changed :])
    with server(data, "--drain", "0") as arena:
        found = audit(data)
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
        for lost in begun if changed > 1 else ():
            assert re.search(rf'"match_id": {lost}, .*"match is void"', arena.log), tail(arena.log)
    lost_ones = {match.match_id: (match.state, match.reason) for match in found.interrupted}
    assert lost_ones == (
        dict.fromkeys(begun, (MatchState.INTERRUPTED, Interruption.JOURNAL_DAMAGED.in_words())) if changed > 1 else {}
    )
    assert {match.match_id for match in found.playing} == (playing - begun if changed > 1 else playing)


def open_to_others(data: Path) -> dict[str, int]:
    """Return the modes of the files that users other than the owner can access."""
    modes = {str(path.relative_to(data)): stat.S_IMODE(path.stat().st_mode) for path in data.rglob("*")}
    return {name: mode for name, mode in modes.items() if mode & 0o077}


def test_in_a_directory_that_others_may_enter_everything_is_for_the_servers_user_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    exposed = "other users could open a file of the data directory"
    with server(data) as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        assert {"arena.db", "arena.db-wal", "arena.db-shm", "log.key"} <= {path.name for path in data.iterdir()}
        assert open_to_others(data) == {}
        assert exposed not in arena.log
        tokens = crowd.tokens
        arena.signal(signal.SIGSTOP)
        os.kill(arena.writer_process, signal.SIGKILL)  # so that the kill leaves SQLite's files beside the database
        arena.kill()
    left = ("arena.db", "arena.db-wal", "arena.db-shm", "operator.token", "log.key", "journal", "replays")
    for name in left:  # file modes that an earlier version or a manual copy leaves
        (data / name).chmod(0o755 if (data / name).is_dir() else 0o644)
    with server(data) as arena, Crowd(arena.address) as crowd:
        crowd.tokens = tokens
        all_playing(crowd, 4)
        assert open_to_others(data) == {}
        said = [json.loads(line) for line in arena.log.splitlines() if exposed in line]
        assert [(line["file"], line["mode"], line["now"]) for line in said] == [
            (str(data / name), *(("0755", "0700") if name in {"journal", "replays"} else ("0644", "0600")))
            for name in left
        ]
        assert {line["level"] for line in said} == {"warning"}
    (data / "arena.db").chmod(0o644)
    data.chmod(0o700)
    with server(data) as arena:
        assert open_to_others(data) == {}
        assert arena.log.count(exposed) == len(left), "nobody else could open what is in the directory"
