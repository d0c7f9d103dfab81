"""Sequential tests: their error rates, alone and together, and their lengths."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Final

import numpy as np
import pytest

from arena.ladder.live import expected
from arena.local.match.design import Design
from arena.local.match.sequential import (
    LEAST_SETS,
    RunningTest,
    ScoreUnit,
    SequentialOutcome,
    SequentialTest,
    bound,
    bounds,
    decide,
    exit_time,
)
from arena.local.match.sets import PlayedSet, set_share
from tests.local.test_local_comparison import SHAPES, Values, outcome, played_game

SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
REAL_SETS: Final[dict[str, tuple[int, ...]]] = {
    "nullern": (94, 4, 814, 9, 79),
    "sixth_sense": (233, 29, 548, 23, 167),
}
"""The number of deal pairs with each share, of 1,000 real pairs at a table of two (`python -m
bench.studies.sequential`).
"""


@pytest.mark.thorough
@pytest.mark.parametrize("runs", [1_500, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_sequential_test_errs_as_seldom_as_it_says(shape: str, runs: int) -> None:
    test, chance = SequentialTest(0, 0.25), np.random.default_rng(len(shape))
    slack = 2.5 * sqrt(0.05 * 0.95 / runs)
    for truth, wrong, most in ((0.0, SequentialOutcome.BETTER, 0.055), (0.25, SequentialOutcome.NOT_BETTER, 0.05)):
        errors = 0
        for _ in range(runs):
            found, _sets = outcome(test, SHAPES[shape](chance, 3000) + truth)
            assert found is not SequentialOutcome.UNDECIDED
            errors += found is wrong
        assert errors / runs <= most + slack


def test_the_ratio_is_the_one_of_the_formula_and_decides_no_earlier_than_it_may() -> None:
    test = SequentialTest(0, 1)
    scores = [3.0, 1.0, 2.0, 5.0, -1.0, 2.0, 2.5, 3.5, 4.0]
    running = RunningTest(test)
    for sets, score in enumerate(scores, start=1):
        running.add(score)
        t = np.mean(scores[:sets]) / np.std(scores[:sets]) if sets > 1 else None
        if t is not None and sets <= LEAST_SETS:
            assert running.state.ratio == pytest.approx(sets / 2 * log((1 + t**2) / (1 + (t - 1) ** 2)))
        assert (running.state.outcome is SequentialOutcome.BETTER) is (sets >= LEAST_SETS)
    assert running.state.sets == LEAST_SETS, "what follows its decision changes nothing"


def test_sets_that_are_all_alike_are_decided_too() -> None:
    for score, verdict in (
        (2.0, SequentialOutcome.BETTER),
        (-2.0, SequentialOutcome.NOT_BETTER),
        (0.0, SequentialOutcome.UNDECIDED),
    ):
        found, _ = outcome(SequentialTest(0, 0.5), np.full(50, score))
        assert found is verdict


def test_the_share_of_a_set_is_of_the_two_at_its_table() -> None:
    """Places of the field's other bots do not count, a tie counts half, and both seatings count equally."""
    won, tied = played_game((0, 2, 1), (10, 99, 4)), played_game((1, 2, 0), (9, 99, 9))
    assert set_share(PlayedSet(0, (won, tied))) == 0.75
    assert SequentialTest(0, 20, ScoreUnit.ELO).score(Design.ONE_TABLE, PlayedSet(0, (won, tied))) == 0.75


def of_elo(game: str, elo: float) -> Values:
    """Return the frequency of each share for two bots that differ by exactly this many Elo: real deal pairs,
    reweighted.
    """
    counts, low, high = np.array(REAL_SETS[game], float), -20.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        chances = counts * [exp(middle * share) for share in SHARES]
        chances /= chances.sum()
        low, high = (middle, high) if chances @ SHARES < expected(elo, 0.0) else (low, middle)
    return chances


@pytest.mark.thorough
@pytest.mark.parametrize("runs", [400, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("game", REAL_SETS)
def test_a_test_of_elo_errs_at_its_bounds_as_seldom_as_documented_and_is_a_coin_between(game: str, runs: int) -> None:
    test, chance = SequentialTest(0, 20, ScoreUnit.ELO), np.random.default_rng(20)
    better = {}
    for elo in (0.0, 10.0, 20.0):
        chances = of_elo(game, elo)
        found = [outcome(test, chance.choice(SHARES, 6000, p=chances))[0] for _ in range(runs)]
        assert SequentialOutcome.UNDECIDED not in found
        better[elo] = found.count(SequentialOutcome.BETTER) / runs
    slack = 2.5 * sqrt(0.05 * 0.95 / runs)
    assert better[0.0] <= 0.06 + slack
    assert better[20.0] >= 0.94 - slack
    assert 0.4 < better[10.0] < 0.6


@pytest.mark.parametrize("unit", [ScoreUnit.ELO, ScoreUnit.POINTS])
def test_the_ratio_of_a_mean_is_the_one_of_the_formula(unit: ScoreUnit) -> None:
    scores = [1.0, 0.5, 0.0, 1.0, 0.75, 1.0, 0.25]
    test = SequentialTest(0, 20, unit)
    low, high = (0.5, 1 / (1 + 10 ** (-20 / 400))) if unit is ScoreUnit.ELO else (0.0, 20.0)
    running = RunningTest(test)
    for sets, score in enumerate(scores, start=1):
        running.add(score)
        spread = np.var(scores[:sets]) + (0.5 / sets if unit is ScoreUnit.ELO else 0)
        mean = np.mean(scores[:sets])
        if spread:
            ratio = sets / 2 * log((spread + (mean - low) ** 2) / (spread + (mean - high) ** 2))
            assert running.state.ratio == pytest.approx(ratio)


def test_ties_in_points_decide_nothing() -> None:
    """Most pairs of a bot that rarely plays differently are ties. If the first pairs are ties, later ones may
    differ.
    """
    test = SequentialTest(0, 2, ScoreUnit.POINTS)
    assert outcome(test, np.zeros(3000))[0] is SequentialOutcome.UNDECIDED
    chance, wrong = np.random.default_rng(5), 0
    for _ in range(400):
        rarely = np.where(chance.random(20_000) < 0.05, chance.normal(40, 20, 20_000), 0)  # a mean of 2 points
        wrong += outcome(test, rarely)[0] is not SequentialOutcome.BETTER
    assert wrong / 400 <= 0.05 + 2.5 * sqrt(0.05 * 0.95 / 400)


def test_many_tests_err_together_as_seldom_as_one() -> None:
    """In 5 % of matches of ten equal bots, some bot is called better than another; with separate tests, in 35 %."""
    test, chance, worlds, count = SequentialTest(0, 0.5), np.random.default_rng(3), 200, 10
    together = apart = 0
    for _ in range(worlds):
        scores = chance.normal(0, 1, (count, 600))
        running = [RunningTest(test) for _ in range(count)]
        for number in range(600):
            for each, score in zip(running, scores[:, number].tolist(), strict=True):
                each.update(score)
            decide(running)
            if not any(each.undecided for each in running):
                break
        assert not any(each.undecided for each in running)
        together += any(each.state.outcome is SequentialOutcome.BETTER for each in running)
        apart += any(outcome(test, row)[0] is SequentialOutcome.BETTER for row in scores)
    assert apart / worlds > 0.25
    assert together / worlds <= 0.05 + 2.5 * sqrt(0.05 * 0.95 / worlds)


def test_what_is_decided_lowers_the_bound_for_the_rest_on_its_side() -> None:
    running = [RunningTest(SequentialTest(0, 0.5)) for _ in range(3)]
    assert bounds(running) == (bound(0.05 / 3), bound(0.05 / 3))
    running[0].conclude(SequentialOutcome.BETTER)
    assert bounds(running) == (bound(0.05 / 2), bound(0.05 / 3))
    running[1].conclude(SequentialOutcome.NOT_BETTER)
    assert bounds(running) == (bound(0.05 / 2), bound(0.05 / 2))
    running[2].conclude(SequentialOutcome.BETTER)
    assert bounds(running) == (bound(0.05), bound(0.05 / 2))


@pytest.mark.parametrize("drift", [-0.02, -0.002, 0.0, 0.002, 0.02])
def test_the_estimate_of_what_is_left_is_that_of_a_random_walk(drift: float) -> None:
    chance, steps = np.random.default_rng(9), []
    for _ in range(400):
        walk = 1.0 + np.cumsum(chance.normal(drift, 0.2, 6000))
        steps.append(int(np.argmax((walk > 2.9) | (walk < -4.0))) + 1)
    error = float(np.std(steps)) / sqrt(len(steps))
    assert exit_time(1.0, 2.9, 4.0, drift, 0.04) == pytest.approx(np.mean(steps), abs=4 * error + 5)


def test_there_is_no_estimate_before_anything_is_known() -> None:
    running = RunningTest(SequentialTest(0, 0.5))
    for sets, score in enumerate([1.0, -0.5, 2.0, 1.0, 0.5, 1.0, 0.0, 1.5, 0.5], start=1):
        assert (running.sets_left(bound(), bound()) < 1000) is (sets > LEAST_SETS)
        running.update(score)
