"""What the house bots know of 6th Sense."""

from __future__ import annotations

import pytest

from arena.house.sixth_sense import CarefulBot
from arena.house.sixth_sense.situation import goal, read, takes
from engine.sixth_sense.tricks import NO_TRUMP
from tests.engine.sixth_sense_table import ACTIONS, CARDS, Table


def test_a_six_aims_at_six_until_more_are_taken() -> None:
    table = Table({0: "red 6/9"})
    assert goal(table.state.view(0)) == 0
    table.predict()
    assert goal(table.state.view(0)) == 6
    assert read(table.state.view(0)).wanted == 6


@pytest.mark.parametrize(
    ("trick", "trump", "place"),
    [
        ("yellow 3, yellow 5, green 14", NO_TRUMP, 1),
        ("yellow 3, yellow 5, green 14", 2, 2),
        ("yellow 3, yellow 4, green 14", NO_TRUMP, 2),
        ("yellow 3, green 5, a 0 blocks place 1", NO_TRUMP, 1),
        ("yellow 3, red 0 blocks place 1", NO_TRUMP, -1),
    ],
)
def test_the_card_ahead_is_found_as_the_rules_have_it(trick: str, trump: int, place: int) -> None:
    assert takes(bytes(ACTIONS[name] for name in trick.split(", ")), trump) == place


def test_careful_throws_its_strongest_card_when_it_wants_no_trick() -> None:
    hands = {0: "red 1", 1: "red 2, green 13", 2: "red 0, green 3, green 12", 3: "red 3"}
    table = Table(hands, fill={2: "yellow, red"}).predict().play("green 13")
    state = table.state
    action = CarefulBot().decide(state.view(2), state.legal(2), bytes(32))
    assert action == ACTIONS["green 12"]
    assert CARDS["red 0"] == state.view(2).prediction
