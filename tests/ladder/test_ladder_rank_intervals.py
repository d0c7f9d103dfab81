"""Rank intervals are correct in 95 % of all comparisons of two bots."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ladder.standard_errors import rank_bounds
from arena.ladder.symmetric import Floats


def variances(errors: Floats) -> Floats:
    """Return the variances of the differences of independent ratings."""
    return errors[:, None] ** 2 + errors**2


def test_of_equal_bots_five_pairs_in_a_hundred_are_taken_to_differ() -> None:
    chance = np.random.default_rng(1)
    apart = pairs = 0
    for _ in range(200):
        errors = chance.uniform(10, 60, 40)
        ratings = chance.normal(1500, errors)
        lows, highs = rank_bounds(ratings, ratings, variances(errors))
        assert (lows - 1).sum() == (40 - highs).sum(), "whoever is ahead of one has that one behind it"
        apart += int((lows - 1).sum())
        pairs += 40 * 39 // 2
    assert apart / pairs == pytest.approx(0.05, abs=0.005), "at 1.645 errors it would be 0.1"


@pytest.mark.parametrize(("errors_apart", "surely"), [(1.95, False), (1.97, True)])
def test_a_bot_is_surely_ahead_from_a_difference_of_1_96_errors_on(errors_apart: float, surely: bool) -> None:
    errors = np.array([30.0, 40.0])
    ratings = np.array([1500.0 + errors_apart * 50, 1500.0])
    lows, highs = rank_bounds(ratings, ratings, variances(errors))
    assert (lows.tolist(), highs.tolist()) == (([1, 2], [1, 2]) if surely else ([1, 1], [2, 2]))


def test_whoever_is_shown_behind_is_not_surely_ahead() -> None:
    ratings, shown = np.array([1700.0, 1500.0]), np.array([1500.0, 1510.0])
    lows, highs = rank_bounds(shown, ratings, variances(np.array([10.0, 10.0])))
    assert (lows.tolist(), highs.tolist()) == ([1, 1], [2, 2])
