"""`arena store`, `arena prune` and `arena serve --keep-replays`: what is there, what goes, and what is said of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

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
