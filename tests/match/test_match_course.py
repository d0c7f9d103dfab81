"""The course of a match in which all seats behave correctly."""

import pytest

from arena.match.effects import Ask, Over, Refusal, Refuse, Show
from arena.match.inputs import Acted, Begun, Input, Instant
from arena.match.match import Match
from arena.match.policy import Policy
from engine.game import OptionError
from tests.match.counting import IN_ORDER, CountingGame, CountingReport, CountingView
from tests.match.table import POLICY, Table, asks


def test_match_asks_everybody_who_chooses_at_once_and_shows_each_only_its_own_view() -> None:
    assert Table(seats=3).begin() == [
        Ask(0, 1, range(4), CountingView(0, 0, None, 0), 200, 1000),
        Ask(1, 2, range(4), CountingView(1, 0, None, 1), 200, 1000),
        Ask(2, 3, range(4), CountingView(2, 0, None, 2), 200, 1000),
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_match_keeps_simultaneous_choices_invisible_until_all_are_in(order: tuple[int, ...]) -> None:
    table = Table(seats=3)
    table.begin()
    *early, last = order
    for seat in early:
        assert table.act(5, seat, seat) == []
    assert table.act(5, last, last) == [Ask(0, 4, (4, 5), CountingView(0, 0, 0, 0), 100, 1000)]


def test_match_shows_each_round_then_asks_on_then_ends_with_the_result() -> None:
    table = Table()
    table.begin()
    for seat in (0, 1):
        table.act(1, seat, 0)
    for seat in (0, 1, 0):
        table.act(2, seat, 4)
    assert table.act(2, 1, 4) == [
        Show(CountingReport(round=0, points=(1, 1), scores=(1, 1), guesses=(0, 0))),
        Ask(0, 7, range(4), CountingView(0, 0, None, 1), 100, 1000),
        Ask(1, 8, range(4), CountingView(1, 0, None, 2), 100, 1000),
    ]
    assert asks(table.effects) == [(0, 1), (1, 2), (0, 3), (1, 4), (0, 5), (1, 6), (0, 7), (1, 8)]


def test_match_ends_with_scores_and_places_and_then_refuses_every_answer() -> None:
    table = Table(rounds=1)
    table.begin()
    table.act(1, 0, 0)
    table.act(1, 1, 1)
    for seat in (0, 1, 0):
        table.act(1, seat, 4)
    assert not table.match.over
    assert table.act(1, 1, 4) == [
        Show(CountingReport(round=0, points=(1, 0), scores=(1, 0), guesses=(0, 1))),
        Over((1, 0), (1, 2), (0, 0), (False, False), (True, True), "", (False, False)),
    ]
    assert table.match.over
    assert table.match.deadline is None
    assert table.match.open_decision(0) is None
    assert table.act(2, 0, 4, decision=3) == [Refuse(0, 3, 4, Refusal.STALE, (), 0)]
    assert table.act(2, 0, 4, decision=99) == [Refuse(0, 99, 4, Refusal.UNKNOWN, (), 0)]
    assert table.begin(3) == table.time_up(3) == table.leave(3, 0) == table.come_back(3, 0) == []
    assert table.send(4, 0, decision=3) == table.interrupt(4, "again") == []


def test_match_that_has_not_begun_asks_nothing_and_knows_no_decision() -> None:
    table = Table()
    assert table.act(0, 0, 0, decision=1) == [Refuse(0, 1, 0, Refusal.UNKNOWN, (), 0)]
    assert table.send(0, 0, decision=0) == table.time_up(0) == table.come_back(0, 0) == []
    assert table.match.deadline is None
    assert table.match.open_decision(0) is None
    assert asks(table.begin(1)) == [(0, 1), (1, 2)]
    assert table.begin(2) == []


def test_match_interrupted_is_over_without_a_result_and_says_why() -> None:
    table = Table()
    table.begin()
    table.send(0, 0)
    assert table.interrupt(5, "the server stops") == [Over((), (), (0, 0), (False, False), (), "the server stops")]
    assert table.match.over
    assert table.match.deadline is None
    assert table.act(6, 0, 0, decision=1) == [Refuse(0, 1, 0, Refusal.STALE, (), 0)]


def test_match_interrupted_before_it_begins_never_begins() -> None:
    table = Table()
    assert table.interrupt(5, "no bots") == [Over((), (), (0, 0), (False, False), (), "no bots")]
    assert table.begin(6) == []


def test_match_for_seats_or_options_the_game_does_not_have_is_an_option_error() -> None:
    with pytest.raises(OptionError, match="seats"):
        Match(CountingGame(), 9, {}, IN_ORDER, POLICY)
    with pytest.raises(OptionError, match="colour"):
        Match(CountingGame(), 2, {"colour": True}, IN_ORDER, POLICY)


def test_match_fed_the_same_inputs_gives_the_same_effects() -> None:
    inputs: list[Input] = [Begun(Instant(0)), *(Acted(Instant(9 * n), n % 2, n, n % 6) for n in range(1, 30))]
    first, second = (Match(CountingGame(), 2, {}, IN_ORDER, Policy()) for _ in range(2))
    assert [first.receive(each) for each in inputs] == [second.receive(each) for each in inputs]
