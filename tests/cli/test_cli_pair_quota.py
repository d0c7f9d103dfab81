"""`arena serve --pair-quota`: a server that bounds what two guests count, its replays and its ladder."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from arena.client.remote import connect
from arena.server.config import OPEN_QUOTA, Config, quota_in_force
from tests.cli.cli_rig import PATIENCE, let_play, serving, shown

GAME = "sixth_sense"


@pytest.mark.parametrize(
    ("words", "quota"),
    [
        ({}, 0),
        ({"address": "[::1]:0"}, 0),
        ({"address": "localhost:0"}, 0),
        ({"address": "0.0.0.0:50051"}, OPEN_QUOTA),
        ({"address": "[::]:50051"}, OPEN_QUOTA),
        ({"address": "0.0.0.0:50051", "registration": "invited"}, 0),
        ({"address": "0.0.0.0:50051", "pair_quota": 0}, 0),
        ({"pair_quota": 7}, 7),
    ],
)
def test_a_quota_is_in_force_where_anybody_may_come(words: dict[str, object], quota: int) -> None:
    assert quota_in_force(Config((), **words)) == quota  # type: ignore[arg-type]


@pytest.mark.process
def test_a_server_with_a_quota_keeps_a_ladder_and_replays_that_verify(tmp_path: Path) -> None:
    data, options = tmp_path / "data", ("--no-house", "--game", GAME, "--seats", "2", "--pair-quota", "1")
    with serving(data, *options) as server:
        let_play(server.server, tmp_path, 3, ("rules", "counter"))
    with serving(data, *options) as server, connect(server.server) as client:
        until = time.monotonic() + PATIENCE
        while (client.ladder(GAME).through or 0) < 3:
            assert time.monotonic() < until, "the ladder is not fitted"
            time.sleep(0.05)
        assert client.ladder(GAME).pair_quota == 1
        assert "two guests count 1 matches of a day" in " ".join(shown("ladder", "--server", server.server).split())
    for match in (1, 2, 3):
        assert "OK" in shown("replay", "verify", str(match), "--data", data)
    text = shown("ladder", "rebuild", "--verify", "--game", GAME, "--data", data)
    assert "identical up to event 3" in text
    rows = json.loads(shown("matches", "--json", "--data", data))["matches"]
    still = [all(seat["rating_before"] == seat["rating_after"] for seat in row["seats"]) for row in rows]
    assert still == [True, True, False], "the newest first: only the first match of the day moved anybody"
