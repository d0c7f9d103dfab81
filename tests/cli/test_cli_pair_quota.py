"""`arena serve --pair-quota` limits the weight of matches between two guests, in replays and on the ladder."""

from __future__ import annotations

import json
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from arena.ladder.ladder import NO_QUOTA, Quota
from arena.queries.remote import connect
from arena.server.config import OPEN_QUOTA, Config, quota_in_force
from tests.cli.cli_rig import PATIENCE, let_play, serving, shown
from tests.cli.web_process_rig import browsing

GAME = "sixth_sense"


@pytest.mark.parametrize(
    ("words", "quota"),
    [
        ({}, NO_QUOTA),
        ({"address": "[::1]:0"}, NO_QUOTA),
        ({"address": "localhost:0"}, NO_QUOTA),
        ({"address": "0.0.0.0:50051"}, OPEN_QUOTA),
        ({"address": "[::]:50051"}, OPEN_QUOTA),
        ({"address": "127.0.0.1:50051, localhost:50052"}, NO_QUOTA),
        ({"address": "127.0.0.1:50051,0.0.0.0:50052"}, OPEN_QUOTA),
        ({"address": "0.0.0.0:50051", "registration": "invited"}, NO_QUOTA),
        ({"address": "0.0.0.0:50051", "pair_quota": 0}, NO_QUOTA),
        ({"address": "0.0.0.0:50051", "pair_week_quota": 0}, Quota(40, 0, 7)),
        ({"pair_quota": 7}, Quota(7, 14, 7)),
        ({"pair_quota": 7, "pair_week_quota": 9}, Quota(7, 9, 7)),
        ({"pair_week_quota": 9}, Quota(0, 9, 7)),
    ],
)
def test_a_quota_is_in_force_where_anybody_may_come(words: dict[str, object], quota: Quota) -> None:
    assert quota_in_force(Config((), **words)) == quota  # type: ignore[arg-type]


@pytest.mark.process
def test_a_node_on_loopback_keeps_the_quota_of_nodes_that_anybody_reaches(tmp_path: Path) -> None:
    options = ("--no-house", "--game", GAME, "--seats", "2", "--processes", "2", "--address", "127.0.0.1:0,0.0.0.0:0")
    with serving(tmp_path / "data", *options) as server:
        let_play(server.server, tmp_path, 1, ("rules", "counter"))
    with serving(tmp_path / "data", *options) as server, connect(server.server) as client:
        until = time.monotonic() + PATIENCE
        while not client.ladder(GAME).through:
            assert time.monotonic() < until, "the ladder is not fitted"
            time.sleep(0.05)
        assert (client.ladder(GAME).pair_quota, client.ladder(GAME).pair_week_quota) == OPEN_QUOTA[:2]


@pytest.mark.process
def test_a_server_with_a_quota_keeps_a_ladder_and_replays_that_verify(tmp_path: Path) -> None:
    data, quota = tmp_path / "data", ("--pair-quota", "2", "--pair-week-quota", "1")
    options = ("--no-house", "--game", GAME, "--seats", "2", *quota)
    with serving(data, *options) as server:
        let_play(server.server, tmp_path, 3, ("rules", "counter"))
    with serving(data, *options) as server, connect(server.server) as client:
        until = time.monotonic() + PATIENCE
        while (client.ladder(GAME).through or 0) < 3:
            assert time.monotonic() < until, "the ladder is not fitted"
            time.sleep(0.05)
        assert (client.ladder(GAME).pair_quota, client.ladder(GAME).pair_week_quota) == (2, 1)
        words = "two guests count 2 matches of a day and 1 matches of a week together at most, and all new bots of the "
        words += "last 7 days are one of them for most others"
        assert words in " ".join(shown("ladder", "--server", server.server).split())
        with browsing("--server", server.server) as (host, port):
            with urlopen(f"http://{host}:{port}/ladder/{GAME}", timeout=PATIENCE) as page:
                text = " ".join(page.read().decode().split())
            assert f"{words.capitalize()}." in text
    for match in (1, 2, 3):
        assert "OK" in shown("replay", "verify", str(match), "--data", data)
    text = shown("ladder", "rebuild", "--verify", "--game", GAME, "--data", data)
    assert "identical up to event 3" in text
    rows = json.loads(shown("matches", "--json", "--data", data))["matches"]
    still = [all(seat["rating_before"] == seat["rating_after"] for seat in row["seats"]) for row in rows]
    assert still == [True, True, False], "the newest first: only the first match of the week moved anybody"
