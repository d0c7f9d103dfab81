"""Conclusions that `bench.growth` draws from its figures."""

from __future__ import annotations

import pytest

from bench.growth.bots import Crowd, ratio
from bench.growth.matches import exponent


def crowd(cost: float) -> Crowd:
    return Crowd(cost, 0.0, 0.0, 0.0, 0.0, 0)


def test_a_figure_that_grows_with_its_input_has_an_exponent_of_one() -> None:
    assert exponent(0.2, 2.0, 10) == pytest.approx(1.0)
    assert exponent(0.2, 20.0, 10) == pytest.approx(2.0)
    assert exponent(5e6, 5e6, 10) == 0


def test_what_is_below_the_clock_of_the_system_says_nothing() -> None:
    assert exponent(0.0, 0.0033, 10) == 0


def test_many_bots_are_compared_with_few_turn_by_turn() -> None:
    costs = {200: [30.0, 60.0, 40.0], 1000: [0.0] * 3, 2000: [36.0, 66.0, 60.0]}
    assert ratio({bots: [crowd(each) for each in own] for bots, own in costs.items()}) == pytest.approx(1.2)
    assert ratio({200: [crowd(30.0)]}) is None
