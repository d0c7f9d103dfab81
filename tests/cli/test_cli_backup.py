"""`arena backup` and `arena restore`: their output as text and as JSON, and their error messages."""

from __future__ import annotations

import json
from pathlib import Path

from arena.store.backup import UNFINISHED
from tests.cli.cli_rig import Played, arena, shown, terminal


def test_a_backup_beside_a_running_server_is_restored_with_the_same_ladder_and_replays(
    played: Played, tmp_path: Path
) -> None:
    backup, data = tmp_path / "backup", tmp_path / "data"
    made = json.loads(shown("backup", backup, "--data", played.data, "--json"))
    assert made.pop("at").endswith("Z")
    size = sum(path.stat().st_size for path in backup.rglob("*") if path.is_file() and path.name != "backup.json")
    assert made == {"backup": str(backup), "bytes": size, "matches": 3, "running": 0, "replays": 3, "deleted": []}
    restored = json.loads(shown("restore", backup, "--data", data, "--json"))
    assert restored.pop("at").endswith("Z")
    assert restored == {"data": str(data), "bytes": size, "matches": 3, "running": 0, "replays": 3}
    for words in (["ladder"], ["matches"], ["bots", "list"]):
        assert shown(*words, "--json", "--data", data) == shown(*words, "--json", "--data", played.data)
    assert "identical" in shown("ladder", "rebuild", "--verify", "--data", data)
    for match in (1, 2, 3):
        assert shown("replay", "verify", match, "--data", data).startswith("OK")


def test_both_say_what_to_do_next(played: Played, tmp_path: Path) -> None:
    said = shown("backup", tmp_path / "backup", "--data", played.data)
    assert "3 finished matches, 3 replays, 0 being played. To restore it: arena restore" in said
    said = shown("restore", tmp_path / "backup", "--data", tmp_path / "data")
    assert f"3 finished matches, 0 being played. To go on: arena serve --data {tmp_path / 'data'}" in said


def test_old_backups_are_deleted_on_request(played: Played, tmp_path: Path) -> None:
    for name in ("monday", "tuesday"):
        shown("backup", tmp_path / name, "--data", played.data)
    assert "deleted: monday\n" in shown("backup", tmp_path / "wednesday", "--data", played.data, "--keep", "2")
    made = json.loads(shown("backup", tmp_path / "friday", "--data", played.data, "--keep", "1", "--json"))
    assert made["deleted"] == [str(tmp_path / "tuesday"), str(tmp_path / "wednesday")]
    assert [path.name for path in tmp_path.iterdir()] == ["friday"]
    assert arena("backup", tmp_path / "x", "--data", played.data, "--keep", "0").exit_code == 2


def test_what_cannot_be_done_is_said_and_fails(played: Played, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    for words, why in (
        (("backup", tmp_path / "taken", "--data", played.data), "exists already and is not overwritten"),
        (("backup", tmp_path / "new", "--data", tmp_path / "nothing"), "it has no arena.db"),
        (("restore", tmp_path / "taken", "--data", tmp_path / "new"), "it has no backup.json"),
        (("restore", tmp_path / f"x{UNFINISHED}y", "--data", tmp_path / "new"), "it is unfinished"),
    ):
        result = arena(*words)
        assert (result.exit_code, why in result.output) == (1, True), result.output
        assert not (tmp_path / "new").exists()
    assert arena("backup", tmp_path / "new").exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_terminal_shows_progress(played: Played, tmp_path: Path) -> None:
    with terminal("backup", tmp_path / "backup", "--data", played.data) as at:
        at.expect("copying")
        assert at.end() == 0
