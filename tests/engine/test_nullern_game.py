"""Names of Nullern's cards and actions, and the default choices for a silent seat."""

from __future__ import annotations

import pytest

from engine.deal import SeededDecks
from engine.game import Action, OptionError
from engine.nullern import NULLERN
from engine.nullern.score import bid_nearest
from tests.engine.nullern_table import ACTIONS, CARDS, Table

DECKS = SeededDecks(bytes(32))


def test_indices_of_nullern_cards_and_actions_are_fixed() -> None:
    expected = {"red 1": 0, "red 20": 19, "yellow 1": 20, "green 1": 40, "blue 1": 60, "blue 20": 79}
    assert {name: CARDS[name] for name in expected} == expected
    assert {name: ACTIONS[name] for name in expected} == expected
    assert {name: ACTIONS[name] for name in ("play the blind card", "bid 0", "bid 10")} == {
        "play the blind card": 80,
        "bid 0": 81,
        "bid 10": 91,
    }
    assert len(NULLERN.actions) == len(ACTIONS) == 92, "every name is an action's own"
    assert len(NULLERN.cards) == len(CARDS) == 80, "every name is a card's own"


def test_nullern_actions_say_what_they_do() -> None:
    actions = NULLERN.actions
    assert actions[ACTIONS["green 10"]] == Action("green 10", "play", CARDS["green 10"], 10)
    assert actions[ACTIONS["play the blind card"]] == Action("play the blind card", "play")
    assert actions[ACTIONS["bid 7"]] == Action("bid 7", "bid", value=7)


def test_nullern_has_no_options() -> None:
    assert NULLERN.options == ()
    with pytest.raises(OptionError, match="Nullern has no option 'novice'; it has none"):
        NULLERN.new(4, DECKS, novice=True)


@pytest.mark.parametrize(
    ("hand_size", "seats", "bid"),
    [(1, 2, 0), (1, 7, 0), (2, 2, 1), (3, 2, 1), (5, 2, 2), (10, 2, 5), (5, 3, 2), (4, 3, 1), (10, 4, 2), (10, 7, 1)],
)
def test_the_server_bids_nearest_to_an_equal_share_and_of_two_the_lower(hand_size: int, seats: int, bid: int) -> None:
    assert bid_nearest(hand_size, seats) == bid


def test_the_server_plays_the_first_card_that_may_be_played() -> None:
    table = Table("red 1, blue 9", "red 3, blue 4", "red 5, blue 6")
    assert table.state.fallback(2) == ACTIONS["bid 1"]
    table.bid(0, 2, 0)
    assert table.state.fallback(0) == ACTIONS["red 1"]
    table.play("blue 9")
    assert table.state.fallback(1) == ACTIONS["blue 4"]
