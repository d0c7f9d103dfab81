"""`arena replay ask` and `arena replay diff`, on games of `arena match` and on a server's matches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_rig import arena, shown
from tests.local.bots import CHANCE, FIRST, written


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the eight games of a match."""
    folder = tmp_path_factory.mktemp("games")
    match = (
        "match",
        "house:counter",
        "house:careful",
        "--game",
        "nullern",
        "--seats",
        3,
        "--seed",
        5,
        "--design",
        "same-seats",
    )
    shown(*match, "--sets", 4, "--concurrency", 1, "--replays", folder, "--out", folder / "sets")
    assert len([*folder.glob("*.jsonl.gz")]) == 8
    shown(*match, "--sets", 5, "--concurrency", 1, "--replays", folder, "--out", folder / "sets")
    assert len([*folder.glob("*.jsonl.gz")]) == 10, "a match that goes on adds to them"
    return folder


def asked(*words: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(shown("replay", "ask", "--json", *words))
    return document


def test_every_game_of_a_match_is_verified(games: Path) -> None:
    for file in sorted(games.glob("*.jsonl.gz")):
        text = shown("replay", "verify", file)
        assert text.startswith(f"OK {file} is consistent in itself.")
        assert "dealt by the match runner" in text


def test_a_deterministic_bot_agrees_with_itself(games: Path) -> None:
    found = asked(games, "--bot", "house:counter", "--", "house:counter")
    assert (found["same"], found["different"]) == (1.0, [])
    assert found["decisions"] == sum(each["decisions"] for each in found["seats"]) > 100
    assert found["rounds"][0] == 0
    assert found["cost"]["processor_us"] > 0
    assert "100.0% of its answers" in shown("replay", "ask", games, "--bot", "house:counter", "house:counter")


def test_where_another_bot_decides_differently_is_shown_with_what_was_scored(games: Path) -> None:
    found = asked(games, "--bot", "house:careful", "house:counter")
    assert {each["bot"] for each in found["seats"]} == {"house:careful"}
    assert len(found["different"]) == sum(each["differ"] for each in found["seats"]) > 0
    assert found["same"] == pytest.approx(1 - len(found["different"]) / found["decisions"])
    for each in found["seats"]:
        verdict = json.loads(shown("replay", "verify", each["source"], "--json"))
        assert each["points"] == verdict["scores"][each["seat"]]
        assert each["place"] == verdict["places"][each["seat"]]
    one = found["different"][0]
    assert one["old"] != one["new"]
    words = ("replay", "ask", games, "--bot", "house:careful", "house:counter", "--show", 1)
    text = " ".join(shown(*words, env={"COLUMNS": "200"}).split())
    assert one["source"] in text
    assert f"{one['old']} {one['new']} 0%" in text
    assert f"{len(found['different']) - 1} more; --show N lists more" in text
    assert f"In {found['rounds'][0]} rounds it decides differently" in text


def test_one_seat_of_one_file_is_asked_by_a_bot_of_the_author(games: Path, tmp_path: Path) -> None:
    found = asked(games / "match-1.jsonl.gz", "--seat", 1, written(tmp_path))
    assert [(each["match"], each["seat"]) for each in found["seats"]] == [(1, 1)]
    random = asked(games / "match-1.jsonl.gz", "--seat", 1, "--times", 20, written(tmp_path / "b", CHANCE))
    assert 0 < random["same"] < 1
    assert random["times"] == 20
    assert random["cost"]["decisions"] == 20 * found["cost"]["decisions"]


def test_the_matches_of_a_bot_are_asked_for_where_they_are(source: tuple[str, str]) -> None:
    found = asked("--bot", "counter", "--limit", 2, *source, "house:counter")
    assert len(found["seats"]) == 2
    assert {each["bot"] for each in found["seats"]} == {"counter"}
    by_number = asked(found["seats"][0]["match"], "--bot", "counter", *source, "house:counter")
    assert by_number["seats"] == found["seats"][:1]


def test_two_matches_on_one_deal_are_compared(games: Path) -> None:
    one, other = games / "match-1.jsonl.gz", games / "match-2.jsonl.gz"
    found = arena("replay", "diff", one, other, "--json")
    assert found.exit_code == 3
    document = json.loads(found.stdout)
    assert document["one"]["bots"] == ["house:counter"] * 3
    assert document["other"]["bots"] == ["house:careful", "house:counter", "house:counter"]
    assert len(document["rounds"]) == 20
    for name, points in (("one", "points"), ("other", "other_points")):
        sums = [sum(each[points][seat] for each in document["rounds"]) for seat in range(3)]
        assert sums == document[name]["scores"]
    text = arena("replay", "diff", one, other).stdout
    apart = [each for each in document["rounds"] if each["otherwise"]]
    assert f"{len(apart)} of 20 rounds differ." in text
    [first, *_] = apart[0]["otherwise"]
    assert f"seat {first['seat']}: {first['one']} against {first['other']}" in text
    assert arena("replay", "diff", one, one).exit_code == 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("ask", "house:counter"), 2, "say which matches: name replays, or a bot with --bot"),
        (("ask", "{games}", "--bot", "nobody", "house:counter"), 1, "there is no decision of nobody in these matches"),
        (("ask", "{games}", "--seat", 9, "house:counter"), 1, "there is no decision in seat 9 in these matches"),
        (("ask", "{games}", "house:nobody"), 1, "no bot 'house:nobody': the house bots of nullern are"),
        (("ask", "{empty}", "house:counter"), 1, "has no replays in it: files *.jsonl.gz"),
        (("ask", "{spoilt}", "house:counter"), 1, "spoilt.jsonl.gz"),
        (("ask", "{games}", "{failing}"), 1, "ZeroDivisionError"),
        (("diff", "{games}/match-1.jsonl.gz", "{games}/match-3.jsonl.gz"), 1, "are not of one deal: the cards differ"),
        (
            ("diff", "{games}/match-1.jsonl.gz", "{games}/none.gz"),
            2,
            "none.gz' is neither the number of a match nor a file",
        ),
    ],
)
def test_what_cannot_be_is_named(
    words: tuple[object, ...], status: int, said: str, games: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "spoilt").mkdir()
    (tmp_path / "spoilt" / "spoilt.jsonl.gz").write_bytes(b"no replay")
    failing = written(tmp_path, FIRST.replace("decision.legal[0]", "1 // 0"))
    named = {"games": games, "empty": tmp_path / "empty", "spoilt": tmp_path / "spoilt", "failing": failing}
    ran = arena("replay", *(str(word).format(**named) for word in words))
    assert ran.exit_code == status
    assert said in " ".join(ran.output.split())
