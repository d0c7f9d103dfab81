"""`arena log`: head, entries, audit and a new key, on a server with matches and on its directory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.store.opening import open_to_amend
from tests.cli.cli_rig import Played, arena, let_play, serving, shown


def test_a_head_is_the_same_on_the_server_and_in_its_directory(played: Played) -> None:
    there = shown("log", "head", "--json", "--server", played.server)
    assert shown("log", "head", "--json", "--data", played.data) == there
    head = json.loads(there)
    assert head["size"] == 4, "its key and three matches"
    assert (len(head["keys"]), head["restores"]) == (1, [])
    words = shown("log", "head", "--data", played.data)
    assert f"Log {head['log']}" in words
    assert f"4 leaves, root {head['root']}" in words


def test_what_the_log_says_of_a_match(source: tuple[str, str]) -> None:
    [entry] = json.loads(shown("log", "show", 2, "--json", *source))["entries"]
    rows = json.loads(shown("matches", "--json", *source))["matches"]
    [match] = [row for row in rows if row["match"] == entry["leaf"]["match"]]
    assert match["match"] == 2
    assert entry["leaf"]["names"] == [seat["bot"] for seat in match["seats"]]
    assert entry["leaf"]["points"] == [seat["score"] for seat in match["seats"]]
    assert f"leaf {entry['number']} of 4: " in shown("log", "show", 2, *source)
    result = arena("log", "show", 999, *source)
    assert result.exit_code == 1
    assert "the log has no entry for match 999" in result.output


def test_audit_beside_a_server_and_after_a_change(played: Played, tmp_path: Path) -> None:
    words = shown("log", "audit", "--replays", "--data", played.data)
    assert words.startswith("OK 4 leaves (1 key, 3 rated) say what the tables say.")
    assert "3 replays are those that their leaves name" in words
    data = tmp_path / "data"
    shown("backup", tmp_path / "backup", "--data", played.data)
    shown("restore", tmp_path / "backup", "--data", data)
    made = json.loads(shown("log", "audit", "--json", "--data", data))
    assert made["kinds"] == {"key": 1, "rated": 3, "restore": 1}
    assert (made["leaves"], made["signed"], made["faults"], made["replays"]) == (5, 4, [], None)
    assert "1 of the leaves, the last, are signed with the server's next start" in shown("log", "audit", "--data", data)
    with open_to_amend(data) as connection:
        connection.execute(text("UPDATE match_seats SET score = 99 WHERE match_id = 2 AND seat = 0"))
    result = arena("log", "audit", "--data", data)
    assert result.exit_code == 1
    assert "NOT SO 5 leaves" in result.output
    assert 'for "points", and the tables say [99, ' in result.output
    [fault] = json.loads(arena("log", "audit", "--json", "--data", data).stdout)["faults"]
    assert fault["leaf"] == 3


def test_another_key_signs_from_the_next_start_on(played: Played, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shown("backup", tmp_path / "backup", "--data", played.data)
    shown("restore", tmp_path / "backup", "--data", data)
    before = json.loads(shown("log", "head", "--json", "--data", data))
    changed = json.loads(shown("log", "rotate-key", "--json", "--data", data))
    assert (changed["log"], changed["keys"]) == (before["log"], 2)
    head = json.loads(shown("log", "head", "--json", "--data", data))
    assert (head["size"], head["keys"]) == (5, before["keys"]), "it is of the leaves before, and the old key signed it"
    assert f"signed by the key {before['keys'][0]}, number 1" in shown("log", "head", "--data", data)
    with serving(data, "--no-house") as server:
        head = json.loads(shown("log", "head", "--json", "--server", server.server))
        assert head["keys"] == [*before["keys"], changed["key"]]
        assert [leaf["size"] for leaf in head["restores"]] == [before["size"]]
        assert "restored from a backup that ended with leaf 4, as leaf 5 says" in shown(
            "log", "head", "--server", server.server
        )
        result = arena("log", "rotate-key", "--data", data)
        assert result.exit_code == 1
        assert "the key is changed while no server runs" in result.output
    words = shown("log", "rotate-key", "--data", data)
    assert "is the log's key number 3, named by the one before it" in words
    (data / "log.key").unlink()
    result = arena("log", "rotate-key", "--data", data)
    assert result.exit_code == 1
    assert "log.key is missing" in result.output
    result = arena("serve", "--data", data, "--address", "127.0.0.1:0")
    assert result.exit_code == 1
    assert "log.key is missing" in result.output


def test_bots_say_once_what_a_restoration_took_from_them_and_play_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Real servers and bots: a match, a backup, another match, and a server on the restored backup."""
    bots, options = ["random", "rules"], ("--no-house", "--seats", "2")
    with serving(tmp_path / "data", *options) as server:
        let_play(server.server, tmp_path, 1, bots=bots)
        shown("backup", tmp_path / "backup", "--data", tmp_path / "data")
        let_play(server.server, tmp_path, 1, bots=bots)
    shown("restore", tmp_path / "backup", "--data", tmp_path / "restored")
    assert "backup" not in capfd.readouterr().err
    receipts = tmp_path / "random.token.receipts"
    with serving(tmp_path / "restored", *options) as server:
        let_play(server.server, tmp_path, 1, bots=bots)
        said = [line for line in capfd.readouterr().err.splitlines() if "log" in line]
        assert len(said) == len(bots), said
        for line in said:
            assert "the server was restored from a backup on " in line
            assert "1 of this bot's receipts are of results after that (match 2)" in line
        let_play(server.server, tmp_path, 1, bots=bots)
        assert "log" not in capfd.readouterr().err
        shown("replay", "verify", 3, "--server", server.server, "--receipts", receipts)
    told = [json.loads(line)["match"] for line in receipts.read_text().splitlines() if '"match"' in line[:10]]
    assert told == [1, 2, 2, 3], "also the one that is gone"
    assert json.loads(shown("log", "audit", "--json", "--data", tmp_path / "restored"))["faults"] == []
    shutil.rmtree(tmp_path / "restored")
    with serving(tmp_path / "data", *options) as server:  # the server before the restoration
        let_play(server.server, tmp_path, 1, bots=bots)
        said = [line for line in capfd.readouterr().err.splitlines() if "LOG" in line]
        assert len(said) == len(bots), said
        assert "THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: it does not begin with the " in said[0]
