"""Bots that leave and return, house bots that replace them, and restarts of the server."""

from dataclasses import replace

import pytest

from arena.match.effects import (
    Ask,
    Back,
    Cause,
    Effect,
    Force,
    Gone,
    Hold,
    Over,
    Refusal,
    Refuse,
    Release,
    Show,
    Substitute,
)
from arena.match.policy import Policy
from arena.match.result import RATING_RULE
from tests.match.counting import CountingView
from tests.match.table import Table, asks

POLICY = Policy(soft_limit=100, bank=1000, grace=5000, incidents=2, restart_hold=600)


def table_at_the_first_turn(seats: int = 2, rounds: int = 2, rating_rule: int = RATING_RULE) -> Table:
    table = Table(seats=seats, rounds=rounds, policy=POLICY, rating_rule=rating_rule)
    table.begin()
    for seat in range(seats):
        table.act(0, seat, 0)
    return table


def play_round(table: Table, stands_in: int, at: int) -> None:
    """Play to the end of a round. A house bot plays one of the seats."""
    rounds = sum(isinstance(effect, Show) for effect in table.effects)
    while sum(isinstance(effect, Show) for effect in table.effects) == rounds:
        seat = next(seat for seat in range(5) if table.match.open_decision(seat) is not None)
        ask = next(effect for effect in reversed(table.effects) if isinstance(effect, Ask) and effect.seat == seat)
        (table.stand_in if seat == stands_in else table.act)(at, seat, ask.legal[0])


def over(table: Table) -> Over:
    end = table.effects[-1]
    assert isinstance(end, Over)
    return end


def test_match_first_absence_stops_the_own_clock_and_says_until_when() -> None:
    table = table_at_the_first_turn()
    table.send(10, 0)
    assert table.leave(40, 0) == [Gone(0, 5000)]
    assert table.match.deadline == 5040
    assert table.come_back(4000, 0) == [Back(0), Ask(0, 3, (4, 5), CountingView(0, 0, 0, 0), 70, 1000)]
    assert table.match.deadline is None
    table.send(4010, 0)
    assert table.match.deadline == 4010 + 70 + 1000


def test_match_newcomer_has_less_time_to_come_back() -> None:
    table = Table(policy=replace(POLICY, newcomer_grace=700), newcomers=(1,))
    table.begin()
    assert table.leave(10, 1) == [Gone(1, 700)]
    assert table.leave(10, 0) == [Gone(0, 5000)]
    assert Substitute(1) in table.time_up(710)
    assert not table.match.substituted(0)


def test_match_newcomer_never_has_more_time_than_others() -> None:
    table = Table(policy=replace(POLICY, newcomer_grace=POLICY.grace + 1), newcomers=(1,))
    table.begin()
    assert table.leave(10, 1) == [Gone(1, POLICY.grace)]


def test_match_second_absence_lets_the_clock_run() -> None:
    table = table_at_the_first_turn()
    table.send(10, 0)
    table.desert(40, 0)
    assert table.match.deadline == 40 + 70 + 1000
    assert table.time_up(1110) == [Force(0, 3, 4, Cause.TIME), Ask(1, 4, (4, 5), CountingView(1, 1, 0, 1), 100, 1000)]
    table.act(1200, 1, 4)
    assert table.match.deadline == 1200 + 100, "a decision that comes up while it is away is clocked at once"


def test_match_second_absence_of_a_seat_that_is_not_asked_clocks_nothing() -> None:
    table = table_at_the_first_turn()
    table.desert(40, 1)
    assert table.match.deadline == 40 + 5000
    assert table.match.left(1) == (100, 1000)


def test_match_leaving_twice_at_once_is_one_absence() -> None:
    table = table_at_the_first_turn()
    assert table.leave(0, 1) == [Gone(1, 5000)]
    assert table.leave(1, 1) == []
    assert table.come_back(2, 1) == [Back(1)]
    assert table.come_back(3, 1) == []


def test_match_third_absence_of_two_allowed_seats_a_house_bot_at_once() -> None:
    table = table_at_the_first_turn()
    table.desert(0, 0)
    table.come_back(1, 0)
    question = Ask(0, 3, (4, 5), CountingView(0, 0, 0, 0), 98, 1000)
    assert table.leave(2, 0) == [Gone(0, 0), Substitute(0), question]
    assert table.match.substituted(0)


def test_match_bot_that_leaves_in_order_hands_its_seat_over_at_once_and_is_in_no_trouble() -> None:
    table = table_at_the_first_turn()
    question = Ask(0, 3, (4, 5), CountingView(0, 0, 0, 0), 100, 1000)
    assert table.leave(2, 0, in_order=True) == [Gone(0, 0), Substitute(0), question]
    assert table.leave(3, 0, in_order=True) == [], "once"
    assert table.leave(4, 0) == [], "its stream ends, too"
    for _ in range(2):
        play_round(table, stands_in=0, at=5)
    assert over(table).troubled == (False, False)
    assert over(table).places == (2, 1)


def test_match_bot_that_leaves_in_order_was_in_trouble_where_it_was_before() -> None:
    table = table_at_the_first_turn()
    table.desert(0, 0)
    table.time_up(10_000)
    table.come_back(10_001, 0)
    assert table.leave(10_002, 0, in_order=True) == []
    for _ in range(2):
        play_round(table, stands_in=0, at=10_003)
    assert over(table).troubled == (True, False)


def test_match_bot_that_leaves_in_order_before_the_beginning_is_gone_from_the_beginning() -> None:
    table = Table(policy=POLICY)
    assert table.leave(0, 0, in_order=True) == []
    assert table.begin(1)[0] == Gone(0, 5000)


def test_match_bot_that_is_gone_already_and_leaves_in_order_is_not_gone_twice() -> None:
    table = table_at_the_first_turn()
    assert table.leave(2, 0) == [Gone(0, 5000)]
    substituted, question = table.leave(3, 0, in_order=True)
    assert substituted == Substitute(0)
    assert isinstance(question, Ask)


def test_match_restored_does_not_wait_for_a_bot_that_leaves_in_order() -> None:
    table = table_at_the_first_turn()
    table.restore(60)
    table.come_back(70, 0)
    assert table.leave(80, 1, in_order=True) == [Gone(1, 0), Substitute(1), Release()]


def test_match_grace_over_seats_a_house_bot_whose_choices_count_and_those_of_its_own_bot_do_not() -> None:
    table = table_at_the_first_turn()
    table.leave(0, 0)
    question = Ask(0, 3, (4, 5), CountingView(0, 0, 0, 0), 100, 1000)
    assert table.time_up(4999) == []
    assert table.time_up(5000) == [Substitute(0), question]
    assert table.match.deadline is None
    assert table.come_back(6000, 0) == []
    assert table.send(6000, 0) == []
    assert table.act(6000, 0, 4) == [Refuse(0, 3, 4, Refusal.SUBSTITUTED, (), 0)]
    assert table.match.deadline is None, "nobody's clock runs for a house bot"
    assert asks(table.stand_in(6000, 0, 5)) == [(1, 4)]
    assert table.act(6001, 0, 4, decision=3) == [Refuse(0, 3, 4, Refusal.STALE, (), 0)]


def test_match_bot_owes_only_the_decision_open_before_it_and_none_once_a_house_bot_has_its_seat() -> None:
    table = table_at_the_first_turn()
    assert table.match.owes(0, 3)
    assert not table.match.owes(0, 1), "answered already"
    assert not table.match.owes(1, 3), "put to another seat"
    table.leave(0, 0)
    assert table.match.owes(0, 3), "a bot that may still come back owes what is open"
    table.time_up(5000)
    assert table.match.open_decision(0) == 3
    assert not table.match.owes(0, 3), "a house bot has the seat"


def test_match_house_bot_is_heard_only_for_a_seat_it_has_and_the_decision_that_is_open() -> None:
    table = table_at_the_first_turn()
    assert table.stand_in(1, 0, 4) == []
    table.leave(1, 0)
    table.time_up(5001)
    assert table.stand_in(5001, 0, 4, decision=2) == []
    assert table.stand_in(5001, 7, 4, decision=3) == []
    assert table.stand_in(5001, 0, 99)[0] == Force(0, 3, 4, Cause.ILLEGALITY), "a fault of ours must not stop the game"


def test_match_bot_that_is_back_has_its_seat_again_from_the_next_round() -> None:
    table = table_at_the_first_turn()
    table.leave(0, 0)
    table.time_up(5000)
    table.come_back(5001, 0)
    play_round(table, 0, 5002)
    assert Back(0) in table.effects[-4:]
    assert not table.match.substituted(0)
    table.send(5002, 0)
    assert asks(table.act(5002, 0, 1)) == []
    assert table.match.open_decision(0) is None


def test_match_bot_that_stays_away_comes_last_and_the_others_are_ranked_without_it() -> None:
    table = table_at_the_first_turn(seats=3, rounds=4)
    for _ in range(3):
        play_round(table, -1, 0)
    for seat in range(3):
        table.act(0, seat, 2 - seat)  # seat 0 guesses the final total
    table.leave(1, 0)
    table.time_up(6000)
    play_round(table, 0, 6000)
    end = over(table)
    assert end.scores == (1, 0, 0)
    assert end.places == (3, 1, 1)
    assert end.troubled == (True, False, False)
    assert end.counts == (True, True, True)
    assert end.spoilt == (False, False, False), "one round of four is not more than a quarter"


@pytest.mark.parametrize(
    ("rating_rule", "counts", "spoilt"),
    [(2, (True, True, True), (True, False, False)), (1, (True, False, False), ())],
)
def test_match_played_on_for_too_long_moves_no_opponent_but_counts_among_the_others(
    rating_rule: int, counts: tuple[bool, ...], spoilt: tuple[bool, ...]
) -> None:
    table = table_at_the_first_turn(seats=3, rounds=4, rating_rule=rating_rule)
    table.leave(1, 0)
    table.time_up(6000)
    play_round(table, 0, 6000)
    play_round(table, 0, 6000)
    table.come_back(6001, 0)
    play_round(table, 0, 6001)
    play_round(table, -1, 6001)
    end = over(table)
    assert end.places[0] == 3
    assert (end.counts, end.spoilt) == (counts, spoilt)


def test_match_bot_gone_before_the_beginning_is_missed_from_the_beginning() -> None:
    table = Table(policy=POLICY)
    assert table.leave(0, 1) == []
    assert table.match.deadline is None
    assert table.begin(100)[0] == Gone(1, 5000)
    assert table.match.deadline == 5100


def test_match_restored_stands_still_until_everybody_is_back_and_charges_nobody() -> None:
    table = table_at_the_first_turn()
    table.send(10, 0)
    assert table.restore(60) == [Hold(600)]
    assert table.match.deadline == 660
    assert table.leave(61, 1) == [], "a bot that comes and goes meanwhile is not charged"
    assert table.come_back(100, 0) == [Ask(0, 3, (4, 5), CountingView(0, 0, 0, 0), 50, 1000)]
    table.send(110, 0)
    assert table.match.deadline == 660
    assert table.come_back(300, 1) == [Release()]
    assert table.match.deadline == 300 + 50 + 1000


def test_match_restored_takes_answers_while_it_stands_still() -> None:
    table = table_at_the_first_turn()
    table.restore(60)
    table.come_back(70, 0)
    assert asks(table.act(80, 0, 4)) == [(1, 4)]
    assert table.match.deadline == 660


def test_match_restored_misses_those_who_did_not_come_back_in_time() -> None:
    table = table_at_the_first_turn()
    table.restore(60)
    table.come_back(70, 0)
    assert table.time_up(660) == [Release(), Gone(1, 5000)]
    assert table.match.deadline == 5660


def test_match_restored_waits_for_no_seat_that_a_house_bot_has() -> None:
    table = table_at_the_first_turn()
    table.leave(0, 0)
    table.time_up(5000)
    assert table.restore(5001) == [Hold(600)]
    assert table.come_back(5002, 1) == [Release()]
    assert table.match.substituted(0)


def test_match_restored_without_a_beginning_or_after_the_end_is_nothing() -> None:
    table = Table(policy=POLICY)
    assert table.restore(0) == []
    table.interrupt(1, "enough")
    assert table.restore(2) == []


def test_match_everybody_gone_ends_when_house_bots_have_played_it_out() -> None:
    table = Table(rounds=1, policy=Policy(soft_limit=1, bank=0, grace=10))
    table.begin()
    effects: list[Effect] = []
    for seat in (0, 1):
        effects += table.leave(0, seat)
    effects += table.time_up(10)
    assert [effect for effect in effects if isinstance(effect, Substitute)] == [Substitute(0), Substitute(1)]
    while not table.match.over:
        seat = next(seat for seat in (0, 1) if table.match.open_decision(seat) is not None)
        table.stand_in(10, seat, 4 if table.match.open_decision(seat) > 2 else 0)  # type: ignore[operator] # it is asking
    assert over(table).places == (1, 1)
    assert over(table).counts == (False, False)
    assert over(table).spoilt == (True, True)
