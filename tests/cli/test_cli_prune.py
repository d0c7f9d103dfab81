"""`arena store`, `arena prune` and `arena serve --keep-replays`: the size of stored data, and the removal of
replays.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from sqlalchemy import text

from arena.store.base.directory import database_of
from tests.cli.cli_rig import PATIENCE, Played, arena, serving, shown


def test_pruned_replays_are_named_and_results_stay(played: Played, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shown("backup", tmp_path / "backup", "--data", played.data)
    shown("restore", tmp_path / "backup", "--data", data)
    ladder = shown("ladder", "--json", "--data", data)
    before = json.loads(shown("store", "--json", "--data", data))
    assert [(each["game"], each["kept"], each["pruned"]) for each in before["replays"]] == [("sixth_sense", 3, 0)]
    assert min(before["database"], before["replay_files"]) >= before["replays"][0]["bytes"] > 3000
    assert json.loads(shown("prune", "--keep", 1, "--data", data, "--json")) == {"pruned": 2}
    assert "Nothing to prune." in shown("prune", "--keep", 1, "--data", data)
    assert json.loads(shown("prune", "--older-than", "30d", "--data", data, "--json")) == {"pruned": 0}
    after = json.loads(shown("store", "--json", "--data", data))
    assert [(each["kept"], each["pruned"]) for each in after["replays"]] == [(1, 2)]
    table = shown("store", "--data", data)
    assert f"{after['replays'][0]['bytes']:,}" in table
    assert "replays of sixth_sense" in table
    for match, status in ((1, 1), (2, 1), (3, 0)):
        verified = arena("replay", "verify", match, "--data", data)
        assert verified.exit_code == status
        assert (f"the replay of match {match} is pruned" in verified.output) is bool(status)
    assert [row["pruned"] for row in json.loads(shown("matches", "--json", "--data", data))["matches"]] == [0, 1, 1]
    assert [row["match"] for row in json.loads(shown("replay", "list", "--json", "--data", data))["matches"]] == [3]
    assert shown("ladder", "--json", "--data", data) == ladder
    assert "identical" in shown("ladder", "rebuild", "--verify", "--data", data)


def test_results_are_void_and_rebuilt_without_a_replay(played: Played, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shown("backup", tmp_path / "backup", "--data", played.data)
    shown("restore", tmp_path / "backup", "--data", data)
    with database_of(data).writing().connect() as connection, connection.begin():
        connection.execute(text("UPDATE matches SET ended = ended - 3600000000"))
    assert json.loads(shown("prune", "--older-than", "2h", "--data", data, "--json")) == {"pruned": 0}
    assert "3 replays pruned" in shown("prune", "--older-than", "1h", "--data", data)
    shown("ladder", "void", 2, "--reason", "a test", "--data", data)
    assert "identical" not in shown("ladder", "rebuild", "--data", data)
    assert "identical" in shown("ladder", "rebuild", "--verify", "--data", data)


def test_an_age_that_is_none_and_no_limit_at_all_are_refused_by_name(tmp_path: Path) -> None:
    for value in ("30", "0d", "-1d", "1.5d", "30 d", "9999999d", "1m"):
        refused = arena("prune", f"--older-than={value}", "--data", tmp_path)
        assert refused.exit_code == 2
        assert f"{value!r} is no number of hours, days or weeks, such as 12h, 30d or 8w" in refused.output
    refused = arena("prune", "--data", tmp_path)
    assert refused.exit_code == 2
    assert "name the replays to remove: --keep N, --older-than 30d, or both" in refused.output


def test_a_running_server_prunes_by_itself_and_nobody_else_does(played: Played, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shown("backup", tmp_path / "backup", "--data", played.data)
    shown("restore", tmp_path / "backup", "--data", data)
    with serving(data, "--keep-replays", "2", "--no-house") as server:
        until = time.monotonic() + PATIENCE
        while json.loads(shown("store", "--json", "--data", data))["replays"][0]["kept"] != 2:
            assert time.monotonic() < until, "nothing is pruned"
        refused = arena("prune", "--keep", 0, "--data", data)
        assert refused.exit_code == 1
        assert "a server prunes by itself, with --keep-replays" in refused.output
        gone = arena("replay", "show", 1, "--server", server.server)
        assert gone.exit_code == 1
        rows = json.loads(shown("replay", "list", "--json", "--server", server.server))["matches"]
        assert [row["match"] for row in rows] == [3, 2]
        assert "the replay of match 1 is pruned" in gone.output
        assert shown("replay", "verify", 2, "--server", server.server).startswith("OK")
