"""`--ladder` and `--season`: several ladders and seasons of one game in a data directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.registry import GAMES
from tests.cli.cli_rig import arena, shown
from tests.cli.web_data import with_ladders

GAME = "sixth_sense"
OLD, NEW = ("--ladder", "slow", "--season", "1"), ("--ladder", "slow")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_ladders(tmp_path_factory.mktemp("ladders") / "data")


def document(data: Path, *words: str) -> Any:
    return json.loads(shown(*words, "--json", "--data", data))


def named(row: dict[str, Any]) -> tuple[str, str | None, int | None]:
    return row["game"], row.get("ladder"), row.get("season")


def test_a_ladder_is_shown_by_its_name_and_its_season(data: Path) -> None:
    [usual], [old], [new] = (
        document(data, "ladder", *words)["ladders"] for words in (("--game", GAME), OLD, (*NEW, "--game", GAME))
    )
    assert [named(each) for each in (usual, old, new)] == [(GAME, None, None), (GAME, "slow", 1), (GAME, "slow", 2)]
    assert [each["through"] for each in (usual, old, new)] == [1, 2, 1]
    assert [len(each["standings"]) for each in (usual, old, new)] == [4, 4, 3]
    assert [each["standings"][0]["matches"] for each in (usual, old, new)] == [1, 2, 1]
    everything = document(data, "ladder")["ladders"]
    assert [named(each) for each in everything] == [(name, None, None) for name in GAMES]
    assert everything[0] == usual, "without a name the default ladders"
    assert f"Ladder of slow ({GAME}), season 2" in shown("ladder", *NEW, "--data", data)
    assert f"Ladder of slow ({GAME}) " in shown("ladder", *OLD, "--data", data)
    [few] = document(data, "ladder", *NEW, "--seats", "3")["ladders"]
    assert (named(few), few["seats"], len(few["standings"])) == ((GAME, "slow", 2), 3, 3)
    [past] = document(data, "ladder", *OLD, "--at", old["published"])["ladders"]
    assert (named(past), past["digest"]) == ((GAME, "slow", 1), old["digest"])


def test_ladders_are_listed_with_their_seasons(data: Path) -> None:
    listed = document(data, "ladder", "list")["ladders"]
    assert [(each["name"], each["game"], each["seats"]) for each in listed] == [
        *((name, name, None) for name in GAMES),
        ("slow", GAME, None),
    ]
    assert [(each["number"], each["events"], each["bots"]) for each in listed[-1]["seasons"]] == [(1, 2, 4), (2, 1, 3)]
    lines = shown("ladder", "list", "--data", data).splitlines()
    assert ["slow", GAME, "2", "3", "1"] in [line.strip("│ ").split() for line in lines]


def test_what_is_told_of_a_bot_is_of_the_ladder(data: Path) -> None:
    [history] = document(data, "ladder", "--history", "bot-0", *OLD)["histories"]
    assert (named(history), [row["match"] for row in history["matches"]]) == ((GAME, "slow", 1), [2, 3])
    [versions] = document(data, "ladder", "--versions", "bot-0", *NEW)["games"]
    assert (named(versions), versions["versions"][0]["matches"]) == ((GAME, "slow", 2), 1)
    [flags] = document(data, "ladder", "--flags", *NEW)["games"]
    assert flags == {"game": GAME, "ladder": "slow", "season": 2, "flags": []}
    [profile] = document(data, "bots", "show", "bot-0", *OLD)["games"]
    assert (named(profile), profile["matches"]) == ((GAME, "slow", 1), 2)
    assert [named(each) for each in document(data, "bots", "show", "bot-0")["games"]] == [
        (GAME, None, None),
        (GAME, "slow", 2),
    ], "on each ladder where it has played"
    found = document(data, "bots", "opponents", "bot-3", *OLD)
    assert (named(found), {row["matches"] for row in found["opponents"]}) == ((GAME, "slow", 1), {2})
    assert document(data, "bots", "opponents", "bot-3", *NEW)["opponents"] == []
    assert document(data, "bots", "opponents", "bot-3", "--game", GAME).keys() == {"bot", "game", "opponents"}
    assert "bot-0 in slow (sixth_sense), season 2: 1 match" in shown("bots", "show", "bot-0", *NEW, "--data", data)


def test_matches_are_those_of_the_season_and_of_a_game_those_of_all_its_ladders(data: Path) -> None:
    wanted: dict[tuple[str, ...], list[int]] = {
        (): [4, 3, 2, 1],
        ("--game", GAME): [4, 3, 2, 1],
        OLD: [3, 2],
        NEW: [4],
        ("--game", GAME, "--season", "1"): [1],
        ("--ladder", GAME): [1],
        (*OLD, "--bot", "bot-0", "--before", "3"): [2],
    }
    for words, numbers in wanted.items():
        for verb in (("matches",), ("replay", "list")):
            assert [row["match"] for row in document(data, *verb, *words)["matches"]] == numbers
    rows = document(data, "matches")["matches"]
    assert [named(row)[1:] for row in rows] == [("slow", 2), ("slow", 1), ("slow", 1), (None, None)]
    text = shown("matches", *OLD, "--limit", "1", "--data", data)
    assert f"Older ones: arena matches --ladder slow --season 1 --before 3 --data {data}" in text
    lines = shown("matches", "--data", data).splitlines()
    assert next(line.split()[1:4] for line in lines if line.startswith("│     ")) == ["4", "slow", "2"]
    assert [line.split()[2] for line in lines if "bot-3" in line] == ["slow", "slow", GAME]


def test_decisions_of_a_ladder_are_asked_again(data: Path, tmp_path: Path) -> None:
    ask = ("replay", "ask", "--bot", "bot-0", "house:random")
    assert [each["match"] for each in document(data, *ask, *OLD)["seats"]] == [2, 3]
    for number in range(1, 5):
        shown("replay", "export", number, "--output", tmp_path / f"{number}.jsonl.gz", "--data", data)
    for words, numbers in ((OLD, [2, 3]), (NEW, [2, 3, 4]), (("--game", GAME, "--season", "1"), [1])):
        found = document(data, "replay", "ask", str(tmp_path), "house:random", "--bot", "bot-0", *words)["seats"]
        assert [each["match"] for each in found] == numbers


def test_rebuild_takes_every_season_of_every_ladder(data: Path) -> None:
    verify = ("ladder", "rebuild", "--verify")
    everything = document(data, *verify)["ladders"]
    slow = [(GAME, "slow", 1), (GAME, "slow", 2)]
    assert [named(each) for each in everything] == [*((name, None, None) for name in GAMES), *slow]
    assert [each["identical"] for each in everything if each["published"]] == [True] * 3
    assert [named(each) for each in document(data, *verify, *NEW)["ladders"]] == slow
    assert [named(each) for each in document(data, *verify, *OLD)["ladders"]] == slow[:1]
    assert [named(each) for each in document(data, *verify, "--game", GAME)["ladders"]] == [(GAME, None, None), *slow]
    text = shown(*verify, *OLD, "--data", data)
    assert text.startswith("slow (sixth_sense): identical up to event 2, SHA-256 ")


@pytest.mark.parametrize(
    "verb",
    [
        *(("ladder",), ("ladder", "--history", "bot-0"), ("ladder", "--at", "2026-01-01"), ("matches",)),
        *(("bots", "show", "bot-0"), ("bots", "opponents", "bot-0"), ("replay", "list")),
        *(("ladder", "rebuild", "--verify"), ("replay", "ask", "--bot", "bot-0", "house:random")),
    ],
    ids=" ".join,
)
def test_a_ladder_or_season_that_is_not_there_is_named(verb: tuple[str, ...], data: Path) -> None:
    for words, status, text in (
        (("--ladder", "fast"), 2, "there is no ladder 'fast'; there is sixth_sense, nullern"),
        (("--ladder", "slow", "--game", "nullern"), 2, "the ladder slow is of sixth_sense, not of nullern"),
        (
            ("--ladder", "slow", "--season", "3"),
            1,
            "the ladder slow has no season 3; its seasons are numbered from 1 to 2",
        ),
        (("--season", "2"), 2, "--ladder"),
    ):
        result = arena(*verb, *words, "--data", data)
        assert (result.exit_code, text in " ".join(result.stderr.replace("│", "").split())) == (status, True), (
            result.stderr
        )
