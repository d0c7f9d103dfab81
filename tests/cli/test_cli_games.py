"""`arena games`: text and JSON agree with each other and with the games' code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.registry import GAMES
from tests.cli.cli_rig import shown


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    return {game["name"]: game for game in json.loads(shown("games", "--json"))["games"]}


def test_every_game_is_listed_as_its_catalogue_says(listed: dict[str, Any]) -> None:
    assert list(listed) == list(GAMES)
    for name, game in GAMES.items():
        entry = listed[name]
        assert entry["title"] == game.title
        assert (entry["cards"], entry["actions"]) == (len(game.cards), len(game.actions))
        assert entry["colours"] == list(game.colours)
        assert [option["name"] for option in entry["options"]] == [option.name for option in game.options]
        assert [size["seats"] for size in entry["sizes"]] == list(game.seats)


def test_S1_S2_S3_sizes_of_6th_sense(listed: dict[str, Any]) -> None:
    sizes = listed["sixth_sense"]["sizes"]
    assert [size["deck"] for size in sizes] == [56, 70, 70, 70, 70]
    assert [size["rounds"] for size in sizes] == [6, 6, 4, 5, 6]
    assert [set(size["hands"]) for size in sizes] == [{15}, {14}, {14}, {13}, {11}]


def test_N1_sizes_of_nullern(listed: dict[str, Any]) -> None:
    for size in listed["nullern"]["sizes"]:
        assert size["deck"] == 80
        assert size["hands"] == [*range(1, 11), *range(9, 0, -1), 1]
        assert size["rounds"] == 20


def test_people_see_games_sizes_and_options() -> None:
    text = shown("games")
    for game in GAMES.values():
        assert f"{game.title} ({game.name})" in text
        assert f"{len(game.cards)} cards, {len(game.actions)} actions" in text
        for option in game.options:
            assert option.name in text
            assert option.description in text
    assert "[default: false]" in text
    assert "1 2 3 4 5 6 7 8 9 10 9 8 7 6 5 4 3 2 1 1" in text
