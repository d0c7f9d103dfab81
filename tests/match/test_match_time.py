"""Clocks and banks: when a decision is late, and the cost of lateness. Both depend only on the recorded instants."""

from itertools import permutations

from arena.match.effects import Ask, Back, Cause, Force, Over, Refusal, Refuse, Show, Suspend
from arena.match.policy import Policy
from tests.match.counting import CountingReport, CountingView
from tests.match.table import POLICY, Table, asks


def guess(table: Table, at: int) -> None:
    """Begin, and let all seats guess 0 without clocks. Turns follow."""
    table.begin()
    for seat in (0, 1):
        table.act(at, seat, 0)


def test_match_clock_starts_when_the_question_is_sent_and_only_then() -> None:
    table = Table()
    table.begin()
    assert table.match.deadline is None
    assert table.time_up(10**9) == []
    table.send(10**9, 1)
    assert table.match.deadline == 10**9 + 200 + 1000


def test_match_clock_cannot_be_started_again_or_for_another_seat_or_decision() -> None:
    table = Table()
    table.begin()
    for seat, decision in [(0, 2), (1, 1), (0, 3), (0, 0), (7, 1), (-1, 1), (0, -1)]:
        table.send(5, seat, decision)
    assert table.match.deadline is None
    table.send(10, 0)
    table.send(50, 0)
    assert table.match.deadline == 1210


def test_match_first_decision_of_a_seat_has_twice_the_soft_limit() -> None:
    table = Table()
    table.begin()
    table.send(0, 0)
    assert table.match.deadline == 1200
    table.act(200, 0, 0)
    table.act(200, 1, 0)
    table.send(300, 0)
    assert table.match.deadline == 300 + 100 + 1000


def test_match_bank_pays_what_goes_over_the_soft_limit() -> None:
    table = Table()
    guess(table, 0)
    table.send(0, 0)
    table.act(100, 0, 4)  # exactly at the soft limit: free
    table.send(100, 1)
    [ask] = table.act(250, 1, 4)  # 50 beyond the soft limit
    assert isinstance(ask, Ask)
    assert (ask.seat, ask.soft, ask.bank) == (0, 100, 1000)
    [ask] = table.act(250, 0, 4)
    assert isinstance(ask, Ask)
    assert (ask.seat, ask.soft, ask.bank) == (1, 100, 950)


def test_match_plays_the_fallback_when_the_clock_falls_and_tells_how_late_the_answer_was() -> None:
    table = Table()
    guess(table, 0)
    table.send(0, 0)
    assert table.time_up(1099) == []
    assert table.time_up(1100) == [
        Force(0, 3, 4, Cause.TIME),
        Ask(1, 4, (4, 5), CountingView(1, 1, 0, 1), 100, 1000),
    ]
    assert table.act(1130, 0, 5, decision=3) == [Refuse(0, 3, 5, Refusal.STALE, (), 30)]
    [ask] = table.act(1130, 1, 4)
    assert isinstance(ask, Ask)
    assert (ask.seat, ask.soft, ask.bank) == (0, 100, 0)


def test_match_answer_after_its_deadline_is_late_though_no_alarm_rang() -> None:
    table = Table()
    guess(table, 0)
    table.send(0, 0)
    assert table.act(1100, 0, 5) == [
        Force(0, 3, 4, Cause.TIME),
        Ask(1, 4, (4, 5), CountingView(1, 1, 0, 1), 100, 1000),
        Refuse(0, 3, 5, Refusal.STALE, (), 0),
    ]


def test_match_answer_a_microsecond_before_its_deadline_counts() -> None:
    table = Table()
    guess(table, 0)
    table.send(0, 0)
    assert asks(table.act(1099, 0, 5)) == [(1, 4)]


def test_match_any_input_settles_the_clocks_that_fell_before_it_earliest_first_then_by_seat() -> None:
    table = Table(seats=3)
    table.begin()
    table.send(10, 0)
    table.send(5, 1)  # before the latest instant, so it counts as that instant
    table.send(10, 2)
    assert table.time_up(99_999) == [Force(seat, seat + 1, 0, Cause.TIME) for seat in range(3)] + [
        Ask(0, 4, (4, 5), CountingView(0, 0, 0, 0), 100, 0)
    ]


def test_match_outcome_depends_on_instants_and_not_on_whether_the_alarm_rang() -> None:
    outcomes = []
    for alarms in (True, False):
        table = Table(rounds=1, policy=Policy(soft_limit=10, bank=20))
        table.begin()
        for seat in (0, 1):
            table.desert(3, seat)
        if alarms:
            while (due := table.match.deadline) is not None:
                table.time_up(due)
        else:
            table.time_up(10**6)
        outcomes.append(table.effects)
    assert outcomes[0] == outcomes[1]
    assert isinstance(outcomes[0][-1], Over)


def test_match_settles_equal_deadlines_in_seat_order_whoever_was_sent_first() -> None:
    courses = set()
    for order in permutations(range(3)):
        table = Table(seats=3)
        table.begin()
        for seat in order:
            table.send(10, seat)
        courses.add(tuple(table.time_up(5000)[:3]))
    assert courses == {tuple(Force(seat, seat + 1, 0, Cause.TIME) for seat in range(3))}


def test_match_three_lates_in_a_row_suspend_a_seat_until_it_returns() -> None:
    table = Table()
    table.begin()
    table.act(0, 1, 0)
    table.desert(0, 0)
    table.time_up(1200)  # the first late answer
    table.time_up(1300)  # the second late answer, with an empty bank
    table.act(1300, 1, 4)
    assert not table.match.suspended(0)
    third = table.time_up(1400)
    assert table.match.suspended(0)
    assert third[:2] == [Force(0, 5, 4, Cause.TIME), Suspend(0)]
    end_of_round = table.act(1500, 1, 4)
    assert end_of_round == [
        Show(CountingReport(round=0, points=(1, 1), scores=(1, 1), guesses=(0, 0))),
        Force(0, 7, 0, Cause.SUSPENSION),
        Ask(1, 8, range(4), CountingView(1, 0, None, 2), 100, 1000),
    ]
    assert table.match.deadline == 30_000_000  # the time at which a house bot takes over
    assert table.act(1500, 0, 1, decision=7) == [Refuse(0, 7, 1, Refusal.STALE, (), 0)]
    assert table.come_back(1600, 0) == [Back(0)]
    assert table.match.deadline is None
    assert table.act(1600, 1, 0) == [Ask(0, 9, (4, 5), CountingView(0, 0, 0, 1), 100, 0)]


def test_match_forgets_lates_when_an_answer_comes_in_time() -> None:
    table = Table(rounds=4, policy=Policy(soft_limit=100, bank=0))
    table.begin()
    for turn in range(30):
        for seat in (0, 1):
            if (decision := table.match.open_decision(seat)) is not None:
                table.send(turn * 1000, seat)
                if turn % 3 != 2:
                    table.time_up(turn * 1000 + 500)
                else:
                    table.act(turn * 1000, seat, 4 if table.act(turn * 1000, seat, 0, decision) else 0, decision)
    assert table.match.over
    assert not any(isinstance(effect, Suspend) for effect in table.effects)


def test_match_with_every_seat_suspended_plays_itself_to_the_end_at_one_input() -> None:
    table = Table(seats=5, rounds=400, policy=Policy(soft_limit=10, bank=0, lates_in_a_row=1))
    table.begin()
    for seat in range(5):
        table.send(0, seat)
    effects = table.time_up(20)
    over = effects[-1]
    assert isinstance(over, Over)
    assert over.forced == (400 * 3,) * 5
    assert table.match.over


def test_match_without_any_time_forces_at_once_and_still_ends() -> None:
    table = Table(policy=Policy(soft_limit=0, bank=0, lates_in_a_row=10**6))
    table.begin()
    for seat in (0, 1):
        table.desert(0, seat)
    table.time_up(0)
    assert table.match.over


def test_match_measured_lag_delays_the_start_of_the_clock_within_the_policy() -> None:
    for lag, allowed in ((0, 0), (40, 40), (90, 60), (-5, 0)):
        table = Table(policy=Policy(soft_limit=100, bank=1000, lag_allowance=60))
        guess(table, 0)
        table.send(10, 0, lag=lag)
        assert table.match.deadline == 10 + allowed + 1100
        [ask] = table.act(200, 0, 4)
        assert isinstance(ask, Ask)
        table.act(200, 1, 4)
        table.begin()
        [ask] = [effect for effect in table.effects if isinstance(effect, Ask)][-1:]
        assert (ask.seat, ask.bank) == (0, 1000 - (190 - allowed - 100))


def test_match_answer_quicker_than_the_lag_costs_nothing() -> None:
    table = Table()
    guess(table, 0)
    table.send(10, 0, lag=50)
    table.act(20, 0, 4)
    [ask] = table.act(20, 1, 4)
    assert isinstance(ask, Ask)
    assert (ask.soft, ask.bank) == (100, 1000)


def test_match_seat_that_comes_back_before_the_question_was_sent_has_its_whole_time() -> None:
    table = Table()
    table.begin()
    assert table.come_back(500, 1) == [Ask(1, 2, range(4), CountingView(1, 0, None, 1), 200, 1000)]
    assert table.match.deadline is None


def test_match_policy_is_in_microseconds() -> None:
    assert (Policy().soft_limit, Policy().bank) == (1_000_000, 30_000_000)
    assert POLICY.lates_in_a_row == 3
