"""`arena ladder void`: annulled results, with and without a server."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.replay.hash_chain import PackedReplay
from arena.store.bots import bots
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from tests.cli.cli_rig import arena, serving, shown


def finished(data: Path) -> int:
    """Record a finished match between two bots and return its number."""
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
            replay=lambda _: PackedReplay(b"", None),
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
        where = ("--data", empty)
        document = json.loads(shown("ladder", "void", match, "--reason", "a known deal", "--json", *where))
        assert document == {"match": match, "reason": "a known deal"}
        assert arena("ladder", "void", match + 1, "--reason", "none", *where).exit_code == 1
        [row] = json.loads(shown("matches", "--json", "--server", server.server))["matches"]
    assert row["voided"] == "a known deal"


def several(data: Path) -> list[int]:
    """Matches of Ann. The first ended in 1970, the others in 2026 at 18, 19 and 20 o'clock UTC."""
    matched = [finished(data)]
    with open_to_amend(data) as connection:
        players = [bots.find(connection, name).id for name in ("ann", "bob")]
        for hour in (18, 19, 20):
            at = round(datetime(2026, 1, 31, hour, tzinfo=UTC).timestamp() * 1e6)
            matched.append(matches.begin(connection, "sixth_sense", {}, players, at))
            result = {"scores": [2, 1], "places": [1, 2], "forced": [0, 0], "counts": [True, True]}
            matches.finish(connection, matched[-1], **result, at=at, replay=lambda _: PackedReplay(b"", None))  # type: ignore[arg-type]
    return matched


def test_results_of_a_bot_are_taken_back_since_a_time_where_no_server_works(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC-1")  # a time zone one hour ahead of UTC
    time.tzset()
    played = several(empty)
    words = ("ladder", "void", "--bot", "ann", "--reason", "a ring", "--data", empty)
    text = shown(*words, "--since", "2026-01-31T20:00:00Z")
    assert text == "1 result of ann no longer counts.\n"
    document = json.loads(shown(*words, "--since", "2026-01-31T20:00", "--json"))
    assert document == {"bot": "ann", "since": "2026-01-31T19:00:00Z", "matches": [played[2]], "reason": "a ring"}
    assert shown(*words, "--since", "2026-01-31") == "1 result of ann no longer counts.\n"
    assert shown(*words, "--since", "2026-01-31") == "0 results of ann no longer count.\n"
    rows = json.loads(shown("matches", "--json", "--data", empty))["matches"]
    assert [row["voided"] for row in rows] == ["a ring"] * 3 + [""]
    monkeypatch.undo()
    time.tzset()


def test_a_time_in_the_future_is_refused(empty: Path) -> None:
    refused = arena("ladder", "void", "--bot", "ann", "--since", "2999-01-01", "--reason", "a ring", "--data", empty)
    assert refused.exit_code == 2
    assert "'2999-01-01' is in the future: here it is 20" in " ".join(refused.output.split())


def test_a_server_that_works_there_takes_results_of_a_bot_back_itself(empty: Path) -> None:
    played = several(empty)
    with serving(empty, "--no-house") as server:
        where = ("--data", empty)
        words = ("ladder", "void", "--bot", "bob", "--since", "2026-01-31T18:30Z", "--reason", "a ring")
        assert json.loads(shown(*words, *where, "--json"))["matches"] == played[2:]
        rows = json.loads(shown("matches", "--json", "--server", server.server))["matches"]
        assert [row["voided"] for row in rows] == ["a ring", "a ring", "", ""]
        unknown = arena(*words[:3], "eve", *words[4:], *where)
        assert unknown.exit_code == 1
        assert "there is no bot 'eve'" in unknown.output


@pytest.mark.parametrize(
    "words",
    [
        (),
        (1, "--bot", "ann", "--since", "2026-01-31"),
        ("--bot", "ann"),
        (1, "--since", "2026-01-31"),
        ("--bot", "ann", "--since", "yesterday"),
        ("--bot", "ann", "--since", "1969-12-31"),
        ("--bot", "ann", "--since", "0001-01-01"),
    ],
)
def test_what_is_to_be_void_is_said_in_one_of_two_ways(empty: Path, words: tuple[object, ...]) -> None:
    assert arena("ladder", "void", *words, "--reason", "a ring", "--data", empty).exit_code == 2
