"""The scheduler's durations on slow clocks. On the default clock nothing changes."""

from __future__ import annotations

import pytest

from arena.scheduling.clock import LadderClock
from arena.scheduling.pace import PaceRules
from arena.scheduling.pool import PATIENCE
from bench.studies.slow import alone, decisions_a_seat
from engine.registry import GAMES
from tests.scheduling.test_scheduling_pool import HOUSE, filled, waiting


@pytest.mark.parametrize("seconds", [0.02, 0.5, 1.0])
def test_a_clock_of_a_second_or_less_has_the_scheduler_s_constants(seconds: float) -> None:
    clock = LadderClock(seconds)
    assert clock.pace_rules(None, 0.15) == PaceRules()
    assert clock.patience() == clock.patience(10_000) == PATIENCE
    assert clock.answer_limit(30) == 30


def test_times_of_a_slow_clock_count_in_soft_limits() -> None:
    clock, usual = LadderClock(60.0), PaceRules()
    rules = clock.pace_rules(None, 0.15)
    assert rules.half_life == 60 * usual.half_life
    assert (rules.first_balance, rules.most_balance) == (60 * usual.first_balance, 60 * usual.most_balance)
    assert usual.quick + 44 < rules.quick < 45, "three quarters of the time beyond a second"
    assert clock.answer_limit(3) == 62, "one decision longer"
    assert clock.pace_rules(0.7, 0.15).quick == 0.7, "an operator's own limit wins"


def test_patience_is_a_match_but_at_least_two_soft_limits() -> None:
    assert [LadderClock(60.0).patience(length) for length in (0, 10, 120, 5000)] == [120, 120, 120, 5000]


def test_bots_that_wait_already_wait_with_a_new_patience() -> None:
    pool = filled([waiting("a", 10)], owners=4)
    assert pool.due(10) == 10 + PATIENCE
    pool.patience = 500.0
    assert pool.due(10) == 510
    assert pool.table(4, 509.0) is None
    table = pool.table(4, 510.0)
    assert table is not None
    assert {*table.bots} - {*HOUSE} == {"a"}


@pytest.mark.parametrize("game", GAMES)
def test_slow_bots_find_opponents_on_a_slow_clock(game: str) -> None:
    decisions = 60.0 if 4 not in GAMES[game].seats else decisions_a_seat(game, 2)
    assert alone(LadderClock(120.0), 8, decisions, 8, 200, 1) < 0.4
    assert alone(LadderClock(), 8, decisions, 8, 200, 1) > 0.9
