"""A test for each ruling of Leduc poker."""

from __future__ import annotations

from typing import Any

import pytest
from engine.leduc import LEDUC
from engine.leduc.cards import CALL, FOLD, RAISE

from engine.game import OptionError
from tests.engine.decks import UNSHUFFLED, Arranged


def table(cards: list[int], *actions: int) -> Any:
    state: Any = LEDUC.new(2, Arranged(lambda number, size, count: cards if number == 0 else range(count)))
    for action in actions:
        state.apply(action, state.player)
    return state


def test_L1_each_seat_has_a_card_and_one_waits() -> None:
    state = table([0, 1, 2])
    assert [(state.view(seat).card, state.view(seat).board) for seat in (0, 1)] == [(0, None), (1, None)]
    state.apply(CALL, 0)
    state.apply(CALL, 1)
    assert state.view(0).board == 2


def test_L2_the_seats_open_by_turns() -> None:
    state = table([0, 1, 2], RAISE, FOLD)
    assert (state.round, state.player) == (1, 1)


def test_L3_two_raises_and_no_more() -> None:
    assert table([0, 1, 2]).legal(0) == (CALL, RAISE)
    assert table([0, 1, 2], RAISE).legal(1) == (FOLD, CALL, RAISE)
    assert table([0, 1, 2], RAISE, RAISE).legal(0) == (FOLD, CALL)


@pytest.mark.parametrize(
    ("actions", "points"),
    [([RAISE, FOLD], (1, -1)), ([RAISE, RAISE, FOLD], (-3, 3)), ([CALL, CALL, CALL, RAISE, FOLD], (-1, 1))],
)
def test_L4_who_folds_loses_what_they_put_in(actions: list[int], points: tuple[int, int]) -> None:
    assert table([0, 1, 2], *actions).report.points == points


@pytest.mark.parametrize(("cards", "points"), [([0, 2, 3], (1, -1)), ([0, 2, 4], (-1, 1)), ([0, 3, 4], (0, 0))])
def test_L5_a_pair_beats_a_rank_and_a_rank_a_lower_one(cards: list[int], points: tuple[int, int]) -> None:
    assert table(cards, CALL, CALL, CALL, CALL).report.points == points


def test_L6_at_most_thirteen_are_won() -> None:
    state = table([2, 0, 1], *[RAISE, RAISE, CALL] * 2)
    assert state.report.points == (13, -13)
    with pytest.raises(OptionError, match="option rounds takes 1 to 50, not 51"):
        LEDUC.new(2, UNSHUFFLED, rounds=51)
