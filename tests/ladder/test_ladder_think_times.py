"""Thinking times: histograms that can be added, and percentiles with an error of at most 5 %."""

from __future__ import annotations

from math import ceil
from random import Random

import pytest

from arena.ladder.think_times import histogram, percentile


def test_of_nothing_there_is_no_percentile() -> None:
    assert percentile(histogram([]), 95) is None


@pytest.mark.parametrize("percent", [1, 50, 95, 100])
@pytest.mark.parametrize("seed", range(5))
def test_a_percentile_is_right_to_within_five_percent(percent: int, seed: int) -> None:
    chance = Random(seed)
    times = [round(10 ** chance.uniform(1, 9)) for _ in range(chance.randint(1, 500))]
    exact = sorted(times)[ceil(len(times) * percent / 100) - 1]
    found = percentile(histogram(times), percent)
    assert found == pytest.approx(exact, rel=0.05, abs=1)


def test_histograms_add_up() -> None:
    first, second = [1, 20, 300], [4_000, 50_000, 300]
    assert histogram(first) + histogram(second) == histogram(first + second)


def test_times_below_a_microsecond_are_counted_too() -> None:
    assert sum(histogram([0, 1, 2]).values()) == 3
