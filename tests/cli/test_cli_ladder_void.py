"""`arena ladder void`: results taken back, with a server and without one."""

from __future__ import annotations

import json
from pathlib import Path

from arena.store import bots, matches
from arena.store.store import open_to_amend
from tests.cli.cli_rig import arena, serving, shown


def finished(data: Path) -> int:
    """A finished match of two bots."""
    with open_to_amend(data) as connection:
        players = [bots.register(connection, name, "", 0).bot.id for name in ("ann", "bob")]
        match = matches.begin(connection, "sixth_sense", {}, players, 0)
        matches.finish(
            connection,
            match,
            scores=[2, 1],
            places=[1, 2],
            forced=[0, 0],
            counts=[True, True],
            at=1,
            replay=lambda _: b"",
        )
    return match


def test_a_result_is_taken_back_where_no_server_works(empty: Path) -> None:
    match = finished(empty)
    assert (
        len(json.loads(shown("ladder", "--game", "sixth_sense", "--json", "--data", empty))["ladders"][0]["standings"])
        == 2
    )
    text = shown("ladder", "void", match, "--reason", "a known deal", "--data", empty)
    assert text == f"The result of match {match} no longer counts.\n"
    assert "void: a known deal" in " ".join(shown("matches", "--data", empty).split())
    again = arena("ladder", "void", match, "--reason", "a known deal", "--data", empty)
    assert again.exit_code == 1
    assert "void already: a known deal" in again.output
    ladders = json.loads(shown("ladder", "--json", "--data", empty))["ladders"]
    assert [ladder["standings"] for ladder in ladders] == [[] for _ in ladders]


def test_a_server_that_works_there_takes_it_back_itself(empty: Path) -> None:
    match = finished(empty)
    with serving(empty, "--no-house") as server:
        where = ("--data", empty, "--server", server.server)
        document = json.loads(shown("ladder", "void", match, "--reason", "a known deal", "--json", *where))
        assert document == {"match": match, "reason": "a known deal"}
        assert arena("ladder", "void", match + 1, "--reason", "none", *where).exit_code == 1
        [row] = json.loads(shown("matches", "--json", "--server", server.server))["matches"]
    assert row["voided"] == "a known deal"
