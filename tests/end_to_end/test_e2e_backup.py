"""Backups of a running server. Server and backup may be killed at any moment, yet each finished backup is complete."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from arena.store.backup import UNFINISHED
from tests.cli.cli_rig import arena, shown
from tests.crash.crash_rig import PATIENCE, Trial, seed, trial
from tests.end_to_end.e2e_rig import ARENA, ROOT, audit, server, until


def begun(data: Path, to: Path) -> subprocess.Popen[str]:
    """Start a backup, and wait until it has begun or finished."""
    command = [str(ARENA), "backup", str(to), "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    until(lambda: process.poll() is not None or [*to.parent.glob(f"{to.name}*")], "a backup that begins", PATIENCE)
    return process


def sound(backup: Path, data: Path, starts: bool) -> int:
    """Restore a backup and audit every replay, and each ladder bit for bit. Return the number of finished matches."""
    shown("restore", backup, "--data", data)
    found = audit(data)
    assert found.interrupted == []
    assert len(found.replays) == len(found.finished)
    if starts:
        with server(data, "--drain", "0") as restored:
            again = audit(data)
            assert [match.match_id for match in again.playing] == [match.match_id for match in found.playing]
            assert again.interrupted == []
            restored.signal(signal.SIGTERM)
            assert restored.ended() == 0
        shown("ladder", "rebuild", "--verify", "--data", data)
    return len(found.finished)


def run(it: Trial, backups: Path, kills: int) -> int:
    """Begin several backups, and kill backup and server alternately. Return the number of finished backups."""
    for number in range(kills):
        process = begun(it.data, backups / f"{number}")
        time.sleep(it.chance.uniform(0, 0.05))  # so that the kill comes at a random moment
        if number % 2:
            process.kill()
        else:
            it.kill()
            it.start()
            assert it.listens(), it.last_words
        said = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode in {0, -signal.SIGKILL}, said
        assert process.returncode or (backups / f"{number}").is_dir()
        it.progress(1)
    it.kill()
    finished = [path for path in backups.iterdir() if UNFINISHED not in path.name]
    for path in backups.iterdir():
        if path not in finished:
            refused = arena("restore", path, "--data", backups.parent / "none")
            assert refused.exit_code == 1
            assert f"{path} is no backup that can be restored: it is unfinished" in refused.output
    counts = [
        sound(path, backups.parent / f"restored {path.name}", starts=number == len(finished) - 1 or kills > 12)
        for number, path in enumerate(sorted(finished, key=lambda path: int(path.name)))
    ]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    return len(finished)


@pytest.mark.parametrize("kills", [6, pytest.param(50, marks=pytest.mark.long)])
def test_a_backup_is_whole_or_refused_whoever_is_killed(tmp_path: Path, kills: int) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    with trial(tmp_path, seed(), bots=3, capacity=2) as it:
        it.begin()
        assert run(it, backups, kills) >= kills // 2, "a server's death costs no backup"


def test_a_backup_of_a_playing_server_goes_on_where_it_was(tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with trial(tmp_path, seed(), bots=3, capacity=4) as it:
        it.begin()
        it.progress(3)
        assert '"running": 0' not in shown("backup", backup, "--data", it.data, "--json")
        assert arena("backup", backup, "--data", it.data).exit_code == 1
        it.kill()
        left = audit(it.data)
        refused = arena("restore", backup, "--data", it.data)
        assert refused.exit_code == 1
        assert "exists already and is not overwritten" in refused.output
        it.data.rename(tmp_path / "old")
        shown("restore", backup, "--data", it.data)
        found = audit(it.data)
        assert found.playing
        assert {match.match_id for match in found.finished} <= {match.match_id for match in left.finished}
        it.start()
        assert it.listens(), it.last_words
        ids = {match.match_id for match in found.playing}
        until(lambda: ids <= {match.match_id for match in audit(it.data).finished}, "the matches that were played")
