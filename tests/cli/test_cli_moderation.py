"""The operator's verbs about bots and owners, with and without a server. Everybody can see the decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.replay.hash_chain import PackedReplay
from arena.store.base.errors import OwnerBanned
from arena.store.bots import bots
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from tests.cli.cli_rig import arena, serving, shown
from tests.store.jobs import NOW


@pytest.fixture
def token(empty: Path) -> str:
    """The token of the bot Ada, whose owner is Eve. The bot Bob has another owner."""
    with open_to_amend(empty) as connection:
        bots.register(connection, "Bob", "", NOW)
        return bots.register(connection, "Ada", "Eve", NOW).token


def play(data: Path) -> int:
    """Record a match that Ada wins 2 to 1 against Bob."""
    with open_to_amend(data) as connection:
        players = [bots.find(connection, name).id for name in ("Ada", "Bob")]
        match = matches.begin(connection, "sixth_sense", {}, players, NOW)
        result = {"scores": [2, 1], "places": [1, 2], "forced": [0, 0], "counts": [True, True]}
        matches.finish(connection, match, **result, at=NOW, replay=lambda _: PackedReplay(b"", None))  # type: ignore[arg-type]
    return match


def welcome(data: Path, token: str) -> bool:
    with open_readonly(data) as connection:
        try:
            return bots.authenticate(connection, token).name == "Ada"
        except OwnerBanned:
            return False


def document(*words: object) -> Any:
    return json.loads(shown(*words, "--json"))


def events(*source: object) -> list[tuple[str, str, str]]:
    rows = document("bots", "events", *source)["events"]
    return [(row["kind"], row["name"], row["reason"]) for row in rows]


def test_the_operator_bans_and_unbans_without_a_server(empty: Path, token: str) -> None:
    assert shown("bots", "events", "--data", empty) == "No such event.\n"
    assert shown("bots", "ban", "eve", "--reason", "a ring", "--data", empty) == "eve is banned, with Ada.\n"
    assert not welcome(empty, token)
    assert "Eve is banned: a ring" in " ".join(shown("bots", "list", "--data", empty).split())
    again = arena("bots", "ban", "Eve", "--data", empty)
    assert again.exit_code == 1
    assert "nothing to change: Eve is banned" in again.output
    assert shown("bots", "unban", "eve", "--data", empty) == "eve is not banned any more.\n"
    assert welcome(empty, token)
    assert events("--data", empty) == [("unbanned", "eve", ""), ("banned", "eve", "a ring")]
    text = shown("bots", "events", "--data", empty, "--limit", 1)
    assert "unbanned eve" in text
    assert f"Older ones: arena bots events --before 2 --data {empty}" in text.replace("\n", "")
    assert events("--data", empty, "--before", 2) == [("banned", "eve", "a ring")]


def test_an_owner_without_a_bot_may_be_banned_and_that_is_said(empty: Path) -> None:
    text = shown("bots", "ban", "evee", "--data", empty)
    assert text == "evee is banned, who has no bot that is listed: see `arena bots list` for the spelling.\n"


def test_a_server_that_works_there_does_it_itself(empty: Path, token: str) -> None:
    with serving(empty, "--no-house") as server:
        there = ("--data", empty)
        done = document("bots", "ban", "eve", "--reason", "a ring", *there)
        assert done == {"owner": "eve", "reason": "a ring", "bots": ["Ada"]}
        assert not welcome(empty, token)
        banned = {row["bot"]: row["banned"] for row in document("bots", "list", "--server", server.server)["bots"]}
        assert banned == {"Ada": "Eve is banned: a ring", "Bob": ""}
        again = arena("bots", "ban", "eve", *there)
        assert again.exit_code == 1
        assert "nothing to change: eve is banned" in again.output
        assert document("bots", "unban", "eve", *there) == {"owner": "eve", "reason": ""}
        assert events("--server", server.server) == [("unbanned", "eve", ""), ("banned", "eve", "a ring")]
        assert events("--server", server.server) == events("--data", empty)
        assert events("--server", server.server, "--before", 2) == [("banned", "eve", "a ring")]


def listed(*source: object) -> list[str]:
    return [row["bot"] for row in document("bots", "list", *source)["bots"]]


def test_a_bot_is_hidden_shown_and_deleted_without_a_server(empty: Path, token: str) -> None:
    play(empty)
    assert shown("bots", "hide", "ada", "--data", empty) == "ada is hidden.\n"
    assert listed("--data", empty) == ["Bob"]
    assert "Ada (hidden)" in shown("ladder", "--game", "sixth_sense", "--data", empty)
    assert shown("bots", "unhide", "ada", "--data", empty) == "ada is listed.\n"
    assert listed("--data", empty) == ["Ada", "Bob"]
    assert shown("bots", "delete", "ada", "--reason", "a wish", "--data", empty) == "ada is deleted.\n"
    assert listed("--data", empty) == ["Bob"]
    ladder = shown("ladder", "--game", "sixth_sense", "--data", empty)
    assert "Ada (deleted)" in ladder
    assert "Eve" not in ladder
    assert "Ada (deleted) 2" in shown("matches", "--data", empty)
    gone = arena("bots", "rotate", "Ada", "--data", empty)
    assert gone.exit_code == 1
    assert "Ada was deleted" in gone.output
    assert events("--data", empty) == [("deleted", "Ada", "a wish"), ("shown", "Ada", ""), ("hidden", "Ada", "")]


def test_a_bot_is_hidden_shown_and_deleted_by_a_server_that_works_there(empty: Path, token: str) -> None:
    play(empty)
    with serving(empty, "--no-house") as server:
        there = ("--data", empty)
        assert document("bots", "hide", "Ada", "--reason", "a probe", *there) == {"bot": "Ada", "reason": "a probe"}
        assert listed("--server", server.server) == ["Bob"]
        [match] = document("matches", "--server", server.server)["matches"]
        assert [(seat["bot"], seat["hidden"], seat["deleted"]) for seat in match["seats"]] == [
            ("Ada", True, False),
            ("Bob", False, False),
        ]
        assert document("bots", "unhide", "Ada", *there) == {"bot": "Ada", "reason": ""}
        assert document("bots", "delete", "Ada", *there) == {"bot": "Ada", "reason": ""}
        assert listed("--server", server.server) == ["Bob"]
        assert [kind for kind, *_ in events("--server", server.server)] == ["deleted", "shown", "hidden"]


def test_a_bot_is_renamed_without_a_server_and_by_one(empty: Path, token: str) -> None:
    match = play(empty)
    assert shown("bots", "rename", "ada", "Countess", "--data", empty) == "ada is Countess now.\n"
    with serving(empty, "--no-house") as server:
        there = ("--data", empty)
        done = document("bots", "rename", "ada", "Augusta", "--reason", "a wish", *there)
        assert done == {"bot": "ada", "new_name": "Augusta", "reason": "a wish"}
        for source in (("--server", server.server), ("--data", empty)):
            assert listed(*source) == ["Augusta", "Bob"]
            assert [row["match"] for row in document("matches", "--bot", "Ada", *source)["matches"]] == [match]
            rows = document("bots", "events", *source)["events"]
            assert [(row["name"], row["new_name"]) for row in rows] == [("Countess", "Augusta"), ("Ada", "Countess")]
        assert "renamed Countess to Augusta" in shown("bots", "events", "--server", server.server)
        taken = arena("bots", "rename", "Bob", "Ada", *there)
        assert taken.exit_code == 1
        assert "the name 'Ada' is taken by 'Augusta'" in taken.output


VERBS = [
    ("rename", "Ada", "Eva"),
    ("ban", "eve"),
    ("unban", "eve"),
    ("hide", "Ada"),
    ("unhide", "Ada"),
    ("delete", "Ada"),
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_it_takes_the_data_directory(verb: tuple[str, ...]) -> None:
    assert arena("bots", *verb).exit_code == 2
