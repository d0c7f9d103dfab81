"""`arena ladder --seats`: the ladder of one table size, from a server and computed from its directory."""

from __future__ import annotations

import json

from tests.cli.cli_rig import BOTS, Played, arena, shown
from tests.cli.conftest import MATCHES


def test_a_server_and_the_directory_compute_the_same(played: Played) -> None:
    asked = ("ladder", "--game", "sixth_sense", "--seats", "3")
    there = json.loads(shown(*asked, "--json", "--server", played.server))
    assert json.loads(shown(*asked, "--json", "--data", played.data)) == there
    (ladder,) = there["ladders"]
    assert (ladder["seats"], ladder["through"], ladder["published"]) == (3, MATCHES, None)
    assert {row["bot"] for row in ladder["standings"]} == set(BOTS)
    (whole,) = json.loads(shown(*asked[:3], "--json", "--data", played.data))["ladders"]
    assert ladder["digest"] == whole["digest"], "all matches were at tables of this size"
    assert shown(*asked, "--server", played.server) == shown(*asked, "--data", played.data)


def test_a_size_that_nobody_played_at_has_no_ladder(source: tuple[str, str]) -> None:
    text = shown("ladder", "--game", "sixth_sense", "--seats", "4", *source)
    assert text == "No match of sixth_sense at a table for 4 is finished yet.\n"


def test_a_size_that_nobody_can_play_at_is_refused(source: tuple[str, str]) -> None:
    for seats in (1, 7):
        result = arena("ladder", "--game", "sixth_sense", "--seats", seats, *source)
        assert result.exit_code == 1
        assert f"sixth_sense is played by 2 to 6, not by {seats}" in result.output
    assert arena("ladder", "--seats", "0", *source).exit_code == 2
