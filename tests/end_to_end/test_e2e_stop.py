"""A server that ends by signal, by force or because the disk is full leaves whole matches and a correct ladder."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from tests.end_to_end.e2e_rig import PATIENCE, Crowd, Ended, Server, audit, failing_server, server, small_disk, until

FULL = (
    "Error: no room left on the disk of {}; nothing is lost: results are in the database, matches that were being "
    "played in the journal. Make room, and start the server again\n"
)


def all_playing(crowd: Crowd, capacity: int = 20) -> None:
    """Let two bots play many matches, until the server ends."""
    ann, bob = crowd.come("ann", capacity=capacity), crowd.come("bob", capacity=capacity)
    ann.play_in_background()
    bob.play_in_background()
    until(lambda: len(ann.reports) >= 5 and len(bob.reports) >= 5, "the first results")


def sees_the_server_end(crowd: Crowd) -> None:
    for bot in crowd.bots:
        assert bot.thread is not None
        bot.thread.join(PATIENCE)
        assert bot.end is not None
        assert bot.end.code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_matches_finish_and_ends_with_status_0(tmp_path: Path, number: int) -> None:
    with server(tmp_path / "data", "--quiet", "--drain", "120") as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        arena.signal(number)
        assert arena.ended() == 0
        sees_the_server_end(crowd)
        assert any(notice.kind == 8 for notice in crowd.bots[0].notices), "bots are told that the server drains"
    found = audit(arena.data)
    assert found.playing == []
    # a match whose start is being stored at that moment is cancelled before its first card
    limit = timedelta(seconds=2)
    assert all(match.ended is not None and match.ended - match.started < limit for match in found.interrupted)
    assert len(found.interrupted) <= 4
    assert "stopping" in crowd.bots[0].end.text  # type: ignore[union-attr]


def test_a_second_signal_hurries(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--drain", "1000") as arena, Crowd(arena.address) as crowd:
        silent, other = crowd.come("silent"), crowd.come("other")
        other.play_in_background()
        silent.read_until(lambda: silent.decisions)
        arena.signal(signal.SIGINT)
        silent.read_until(lambda: silent.notices)
        arena.signal(signal.SIGINT)
        assert arena.ended() == 0
        with pytest.raises(Ended, match="the server is stopping"):
            silent.read_until(lambda: False)
        assert silent.reports == []
    assert len(audit(arena.data).playing) == 1


def test_a_server_killed_while_matches_finish_leaves_nothing_half_recorded(tmp_path: Path) -> None:
    data = tmp_path / "data"
    finished = 0
    for _ in range(2):
        with server(data, "--quiet") as arena, Crowd(arena.address) as crowd:
            crowd.tokens |= _tokens(tmp_path)
            silent, other = crowd.come("silent"), crowd.come("other")
            other.play_in_background()
            silent.read_until(lambda silent=silent: silent.decisions)  # type: ignore[misc]
            all_playing(crowd, 40)
            _keep(tmp_path, crowd.tokens)
            arena.kill()
            told = {report.match_id for bot in crowd.bots for report in bot.reports}
        left = audit(data)
        assert left.playing, "it was killed while matches were being played"
        assert told <= {match.match_id for match in left.finished}, "what a bot was told is stored"
        assert len(left.finished) > finished
        finished = len(left.finished)
    with server(data, "--quiet", "--drain", "0") as arena:
        found = audit(data)
        over = {match.match_id for match in found.finished} - {match.match_id for match in left.finished}
        going_on = {match.match_id for match in found.playing}
        assert sorted([*going_on, *over]) == sorted(match.match_id for match in left.playing), (
            "they go on, or their end stood in the journal: no bot is there to play"
        )
        assert found.interrupted == []
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0


def _tokens(directory: Path) -> dict[str, str]:
    kept = directory / "tokens"
    return dict(line.split() for line in kept.read_text().splitlines()) if kept.exists() else {}


def _keep(directory: Path, tokens: dict[str, str]) -> None:
    (directory / "tokens").write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))


def _largest_file(arena: Server, size: int) -> None:
    """Limit the size of the server's database files."""
    _, hard = resource.prlimit(arena.writer_process, resource.RLIMIT_FSIZE)
    resource.prlimit(arena.writer_process, resource.RLIMIT_FSIZE, (size, hard))


def _costs_no_result(arena: Server, crowd: Crowd) -> None:
    """Stop a server. Every result that its bots received must be stored."""
    arena.signal(signal.SIGTERM)
    assert arena.ended() == 0
    told = {report.match_id for bot in crowd.bots for report in bot.reports if not report.interrupted}
    found = audit(arena.data)
    assert found.playing == []
    assert told == {match.match_id for match in found.finished}


def test_files_that_cannot_grow_cost_no_result(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--drain", "120") as arena, Crowd(arena.address) as crowd:
        all_playing(crowd, 4)
        ann, bob = crowd.bots
        dan = crowd.come("dan")
        dan.read_until(lambda: dan.decisions)  # so that a running match still has a result to store
        _largest_file(arena, 0)  # not the present size, because SQLite may overwrite existing pages
        dan.play_in_background()
        until(lambda: "result not stored yet" in arena.log, "the server to notice")
        assert "arena.db" in arena.log
        known = len(ann.reports)
        assert (ann.end, bob.end) == (None, None), "the bots stay connected"
        _largest_file(arena, resource.RLIM_INFINITY)
        until(lambda: len(ann.reports) > known, "results to be stored")
        _costs_no_result(arena, crowd)


def test_a_full_disk_costs_no_result(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path, "64m") as disk,
        server(disk / "data", "--drain", "120", log=tmp_path / "log") as arena,
        Crowd(arena.address) as crowd,
    ):
        all_playing(crowd, 4)
        ann = crowd.bots[0]
        room = shutil.disk_usage(disk).used + 256 * 1024
        subprocess.run(["mount", "-o", f"remount,size={room}", str(disk)], check=True)
        until(lambda: "no room left on the disk" in arena.log, "the disk to be full")
        known = len(ann.reports)
        assert ann.end is None
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        until(lambda: len(ann.reports) > known, "results to be stored")
        _costs_no_result(arena, crowd)


def test_a_killed_server_says_on_a_full_disk_that_nothing_is_lost_and_what_to_do(tmp_path: Path) -> None:
    with small_disk(tmp_path, "8m") as disk:
        with server(disk / "data", log=tmp_path / "log") as arena, Crowd(arena.address) as crowd:
            all_playing(crowd, 4)
            arena.kill()
            told = {report.match_id for bot in crowd.bots for report in bot.reports}
            tokens = crowd.tokens
        until(lambda: _checkpointed(arena.data / "arena.db"), "the killed server's other processes to end")
        ballast = disk / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        for room, named in ((0, "arena.lock"), (4 * 4096, "arena.db")):
            os.truncate(ballast, ballast.stat().st_size - room)
            status, said = failing_server("--data", str(arena.data), "--address", "127.0.0.1:0")
            assert (status, said) == (1, FULL.format(arena.data / named))
        ballast.unlink()
        with server(arena.data, "--drain", "120", log=tmp_path / "log") as arena, Crowd(arena.address) as crowd:
            crowd.tokens = tokens
            all_playing(crowd, 4)
            arena.signal(signal.SIGTERM)
            assert arena.ended() == 0
            told |= {report.match_id for bot in crowd.bots for report in bot.reports}
        found = audit(arena.data)
        assert (found.playing, found.interrupted) == ([], [])
        assert told <= {match.match_id for match in found.finished}


def _checkpointed(database: Path) -> bool:
    """Open and close a database. Return whether nobody else has it open: SQLite then deletes its journal."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("SELECT count(*) FROM matches")
    return not database.with_name("arena.db-wal").exists()
