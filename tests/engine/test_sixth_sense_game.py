"""Names of 6th Sense's cards, actions and options, and the default choices for a silent seat."""

from __future__ import annotations

import pytest

from engine.deal import SeededDecks
from engine.game import Action, Option, OptionError
from engine.sixth_sense import SIXTH_SENSE
from engine.sixth_sense.score import prediction_nearest
from tests.engine.sixth_sense_table import ACTIONS, CARDS, Table

DECKS = SeededDecks(bytes(32))


def test_indices_of_cards_and_actions_are_fixed() -> None:
    assert {name: CARDS[name] for name in ("red 0", "red 6/9", "yellow 0", "purple 14")} == {
        "red 0": 0,
        "red 6/9": 6,
        "yellow 0": 14,
        "purple 14": 69,
    }
    expected = {
        "red 0": 0,
        "red 6": 6,
        "red 6 as 9": 7,
        "red 7": 8,
        "red 14": 14,
        "red 0 blocks place 1": 15,
        "red 0 blocks place 5": 19,
        "yellow 0": 20,
        "purple 0 blocks place 5": 99,
        "a 0 blocks place 1": 100,
        "a 0 blocks place 5": 104,
        "keep as one": 105,
        "split": 106,
        "do not peek": 107,
        "peek": 108,
        "predict red 0": 109,
        "predict purple 14": 178,
    }
    assert {name: ACTIONS[name] for name in expected} == expected
    assert len(ACTIONS) == 179


def test_actions_say_what_they_do() -> None:
    actions = SIXTH_SENSE.actions
    assert actions[ACTIONS["predict red 6/9"]] == Action("predict red 6/9", "predict", CARDS["red 6/9"])
    assert actions[ACTIONS["red 6 as 9"]] == Action("red 6 as 9", "play", CARDS["red 6/9"], 9)
    assert actions[ACTIONS["green 10"]] == Action("green 10", "play", CARDS["green 10"], 10)
    blocks = actions[ACTIONS["blue 0 blocks place 3"]]
    assert (blocks.kind, blocks.card, blocks.place) == ("block", CARDS["blue 0"], 2)
    hidden = actions[ACTIONS["a 0 blocks place 3"]]
    assert (hidden.kind, hidden.card, hidden.place) == ("block", None, 2)
    assert [actions[ACTIONS[name]].value for name in ("keep as one", "split", "do not peek", "peek")] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": -1}, "option target takes 0 to 1000, not -1"),
        ({"target": 1001}, "option target takes 0 to 1000, not 1001"),
        ({"target": True}, "option target takes a int, not True"),
        ({"novice": 1}, "option novice takes a bool, not 1"),
        ({"novice": True, "late_trump": True}, "late_trump does not go with novice"),
    ],
)
def test_options_that_do_not_go_are_refused(options: dict[str, Option], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SIXTH_SENSE.new(4, DECKS, **options)


@pytest.mark.parametrize("options", [{"target": 20, "novice": True}, {"target": 20, "late_trump": True}], ids=str)
def test_a_target_goes_with_both_other_variants(options: dict[str, Option]) -> None:
    assert SIXTH_SENSE.new(4, DECKS, **options).player == 0


@pytest.mark.parametrize(
    ("hand_size", "seats", "cards", "chosen"),
    [
        (14, 4, "red 3, red 4, blue 1", "red 3"),
        (14, 4, "blue 4, green 4, red 10", "green 4"),
        (15, 2, "red 7, red 8", "red 7"),
        (15, 2, "red 10, red 6/9, red 4", "red 6/9"),
        (11, 6, "red 8, red 6/9, red 10", "red 6/9"),
        (13, 5, "red 2, red 3", "red 3"),
    ],
)
def test_the_server_predicts_nearest_to_an_equal_share(hand_size: int, seats: int, cards: str, chosen: str) -> None:
    indices = sorted(CARDS[name] for name in cards.split(", "))
    assert prediction_nearest(hand_size, seats, indices) == CARDS[chosen]


def test_the_server_plays_the_first_legal_action_and_says_no() -> None:
    hands = {1: "red 1, red 8", 2: "red 2, red 10", 3: "red 3, red 12", 0: "red 5, red 7"}
    table = Table(hands).predict()
    assert table.state.fallback(1) == table.state.legal(1)[0]
    table.play("red 8", "red 10", "red 12", "red 7")
    assert table.state.fallback(3) == ACTIONS["keep as one"]
    table.play("split")
    assert table.state.fallback(1) == ACTIONS["do not peek"]
