"""`arena replay verify` with receipts of real bots on matches of a real server never raises a false alarm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.cli_rig import let_play, serving, shown

MATCHES = 1000
AT_ONCE = 250
BY_SERVER = 50
"""One in this many matches is also compared with the server's log."""


@pytest.mark.long
@pytest.mark.unmeasured
def test_a_thousand_replays_are_what_their_receipts_say(tmp_path: Path) -> None:
    bots = ["random", "rules"]
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        for _ in range(MATCHES // AT_ONCE):
            let_play(server.server, tmp_path, AT_ONCE, bots=bots)
        listed = json.loads(shown("matches", "--json", "--server", server.server, "--limit", 1))
        newest = listed["matches"][0]["match"]
        assert newest >= MATCHES
        for number in range(newest - MATCHES + 1, newest + 1):
            asked = ["--server", server.server] if not number % BY_SERVER else ["--data", tmp_path / "data"]
            receipts = tmp_path / f"{bots[number % 2]}.token.receipts"
            said = json.loads(shown("replay", "verify", number, "--receipts", receipts, "--json", *asked))
            assert said["verified"]
            assert said["receipt"]["file"] == str(receipts)
            assert said["log"]["void"] in {None, ""}
        assert json.loads(shown("log", "audit", "--replays", "--json", "--data", tmp_path / "data"))["faults"] == []
