"""Pace classes and balances: which bots count as slow, and the price that the others pay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scheduling.pace import MOST_CLASSES, OwedTime, Pace, PaceRules, settle

RULES = PaceRules()


def known(pace: float) -> Pace:
    bot = Pace(RULES)
    bot.played(0.0, pace)
    return bot


def test_much_slower_is_above_50_ms_and_twice_the_own_pace() -> None:
    assert not RULES.much_slower(0.050, 0.001)
    assert RULES.much_slower(0.051, 0.001)
    assert not RULES.much_slower(0.2, 0.1)
    assert RULES.much_slower(0.201, 0.1)


@given(st.floats(0, 100), st.floats(0, 100))
def test_within_a_class_nobody_is_much_slower_and_whoever_is_has_a_higher_one(one: float, other: float) -> None:
    classes = RULES.pace_class(one), RULES.pace_class(other)
    if max(one, other) < RULES.quick * 2 ** (MOST_CLASSES - 1) and RULES.much_slower(one, other):
        assert classes[0] > classes[1]
    assert classes[0] <= classes[1] or one > other


def test_who_has_no_pace_is_of_the_slowest_class() -> None:
    assert RULES.pace_class(None) == RULES.pace_class(1e9) == MOST_CLASSES
    assert RULES.pace_class(0.0) == 0


def test_a_pace_goes_up_at_once_and_is_halved_every_five_minutes() -> None:
    bot = known(0.8)
    assert bot.at(300.0) == pytest.approx(0.4)
    bot.played(300.0, 0.1)
    assert bot.at(300.0) == pytest.approx(0.4), "a quick match does not make it quick"
    assert bot.at(600.0) == pytest.approx(0.2)
    bot.played(600.0, 0.9)
    assert bot.at(600.0) == pytest.approx(0.9), "one slow match does"


def test_a_balance_begins_below_nothing_grows_with_table_time_and_has_an_end() -> None:
    bot = Pace(RULES)
    assert bot.balance == -20
    bot.earn(100.0, 0.0)
    assert bot.balance == pytest.approx(-5.0)
    bot.earn(1000.0, 0.0)
    assert bot.balance == 30
    bot.pay(27.0)
    bot.pay(-27.0)
    bot.earn(30.0, 27.0)
    assert bot.balance == pytest.approx(30 + 4.5 - 27)


def test_only_the_time_counts_in_which_much_slower_bots_alone_owed() -> None:
    owed = OwedTime(3)
    owed.owes(0, 1, 0)
    owed.owes(1, 2, 0)
    owed.made(0, 1, 1_000_000)  # both bots owed an answer for a second
    owed.owes(2, 3, 3_000_000)  # the slow bot owed an answer alone for two seconds
    owed.made(2, 3, 4_000_000)  # the slow bot and the third, for one second
    owed.made(1, 2, 9_000_000)  # the slow bot alone for five seconds
    assert owed.pace(1) == pytest.approx(9.0)
    assert owed.pace(0) == pytest.approx(1.0)
    paces = [0.005, 9.0, None]
    assert owed.waited(0, paces, RULES) == pytest.approx(7.0), "a house bot is nobody to wait for"
    assert owed.waited(1, paces, RULES) == 0.0, "nobody waits for itself"
    assert owed.waited(0, [0.005, 9.0, 4.0], RULES) == pytest.approx(8.0), "for two of them together"
    assert owed.waited(0, [5.0, 9.0, None], RULES) == 0.0, "it is not twice as slow"


def test_a_question_put_again_or_answered_twice_is_one_decision() -> None:
    owed = OwedTime(1)
    owed.owes(0, 1, 0)
    owed.owes(0, 1, 500_000)
    owed.made(0, 1, 1_000_000)
    owed.made(0, 1, 2_000_000)
    owed.owes(0, 2, 3_000_000)
    owed.made(0, 1, 4_000_000)
    owed.made(0, 2, 4_000_000)
    assert owed.decisions == [2]
    assert owed.pace(0) == pytest.approx(1.0)


def test_nobody_owes_what_an_outage_of_the_server_takes() -> None:
    owed = OwedTime(1)
    owed.owes(0, 1, 0)
    owed.hold(1_000_000, held=True)
    owed.hold(61_000_000, held=False)
    owed.made(0, 1, 62_000_000)
    assert owed.pace(0) == pytest.approx(2.0)
    assert OwedTime(1).pace(0) is None


def test_a_match_tells_paces_and_who_waited_for_whom() -> None:
    slow, quick, new = Pace(RULES), known(0.005), Pace(RULES)
    owed = OwedTime(4)
    owed.owes(0, 1, 0)
    owed.made(0, 1, 900_000)
    for seat in (1, 2, 3):
        owed.owes(seat, seat + 1, 900_000)
        owed.made(seat, seat + 1, 905_000)
    assert settle([slow, quick, new, None], owed, [True, True, False, True], 1.0, RULES) == pytest.approx(
        [0.0, 0.9, 0.9, 0.0]
    )
    assert slow.at(1.0) == pytest.approx(0.9)
    assert not new.known, "a house bot played for it"


def test_a_bot_that_was_slow_before_is_waited_for_as_a_slow_one() -> None:
    """If the earlier pace did not count, a slow bot would cost no time in every second match."""
    slow, quick = known(0.9), known(0.005)
    owed = OwedTime(2)
    owed.owes(0, 1, 0)
    owed.made(0, 1, 40_000)
    assert settle([slow, quick], owed, [True, True], 1.0, RULES)[1] == pytest.approx(0.04)
