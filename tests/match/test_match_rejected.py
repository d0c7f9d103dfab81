"""Answers that are not applied because they are illegal, stale or unknown, and the consequences of repeated
mistakes.
"""

import pytest

from arena.match.effects import Ask, Cause, Force, Refusal, Refuse
from arena.match.policy import Policy
from tests.match.table import Table, asks


def test_match_illegal_answer_is_refused_with_the_legal_ones_and_the_time_left() -> None:
    table = Table()
    table.begin()
    assert table.act(0, 0, 4) == [Refuse(0, 1, 4, Refusal.ILLEGAL, range(4), 1200)]
    table.send(10, 0)
    assert table.act(260, 0, -1) == [Refuse(0, 1, -1, Refusal.ILLEGAL, range(4), 950)]
    assert table.act(260, 0, 3) == []
    assert table.match.open_decision(0) is None


def test_match_third_mistake_in_one_decision_makes_the_server_play() -> None:
    table = Table()
    table.begin()
    table.act(0, 1, 0)
    table.act(0, 0, 77)
    table.act(0, 0, 78)
    effects = table.act(0, 0, 79)
    assert effects[:2] == [Refuse(0, 1, 79, Refusal.ILLEGAL, (), 0), Force(0, 1, 0, Cause.ILLEGALITY)]
    assert asks(effects) == [(0, 3)]
    assert table.act(0, 0, 0, decision=1) == [Refuse(0, 1, 0, Refusal.STALE, (), 0)]


def test_match_mistakes_are_counted_anew_for_each_decision() -> None:
    table = Table()
    table.begin()
    for seat in (1, 0, 0):
        for wrong in (77, 78):
            assert [type(effect) for effect in table.act(0, seat, wrong)] == [Refuse]
        table.act(0, seat, 4 if table.open(seat) > 2 else 0)


def test_match_from_the_tenth_mistake_on_each_makes_the_server_play_at_once() -> None:
    table = Table(policy=Policy(rejections_per_decision=99, rejections_per_match=10))
    table.begin()
    table.act(0, 1, 0)
    for _ in range(9):
        assert [type(effect) for effect in table.act(0, 0, 77)] == [Refuse]
    assert [type(effect) for effect in table.act(0, 0, 77)] == [Refuse, Force, Ask]
    assert [type(effect) for effect in table.act(0, 0, 77)] == [Refuse, Force, Ask]


def test_match_first_valid_answer_wins_and_a_second_one_is_stale() -> None:
    table = Table()
    table.begin()
    table.act(0, 0, 2)
    assert table.act(5, 0, 3, decision=1) == [Refuse(0, 1, 3, Refusal.STALE, (), 0)]


@pytest.mark.parametrize(
    ("seat", "decision"), [(0, 2), (1, 1), (0, 0), (0, -1), (0, 3), (-1, 2), (-2, 1), (2, 1), (10**30, 1), (0, 10**30)]
)
def test_match_answer_to_a_decision_never_put_to_this_seat_is_unknown(seat: int, decision: int) -> None:
    table = Table()
    table.begin()
    assert table.act(0, seat, 0, decision) == [Refuse(seat, decision, 0, Refusal.UNKNOWN, (), 0)]
    assert table.match.open_decision(0) == 1
    assert table.match.open_decision(1) == 2


@pytest.mark.parametrize("seat", [-1, 2, 10**30])
def test_match_knows_no_other_seats(seat: int) -> None:
    table = Table()
    table.begin()
    assert table.leave(0, seat) == table.come_back(0, seat) == table.send(0, seat, 1) == []
    assert table.match.deadline is None
