"""Shrunk ratings agree with the theory where it has an answer. Their intervals hold, even for the leader."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student

from arena.ladder.shrinkage import FREEDOM, shrunk


def test_one_rating_or_none_stays_as_it_is() -> None:
    assert shrunk(np.array([]), np.array([])).means.tolist() == []
    alone = shrunk(np.array([1612.0]), np.array([50.0]))
    assert (alone.means.tolist(), alone.errors.tolist()) == ([1612.0], [50.0])


def test_centre_and_spread_are_those_of_a_well_known_field() -> None:
    strengths = 1480 + 39 * student(FREEDOM).ppf((np.arange(400) + 0.5) / 400)
    posterior = shrunk(strengths, np.full(400, 2.0))
    assert posterior.centre == pytest.approx(1480, abs=1)
    assert posterior.spread == pytest.approx(39, rel=0.1)
    assert np.abs(posterior.means - strengths).max() < 1


@pytest.mark.parametrize("rating", [1480.0, 1540.0, 1700.0])
def test_a_newcomer_to_a_known_field_is_where_bayes_has_it(rating: float) -> None:
    strengths = 1480 + 32 * student(FREEDOM).ppf((np.arange(400) + 0.5) / 400)
    posterior = shrunk(np.append(strengths, rating), np.append(np.full(400, 2.0), 60.0))
    prior = student(FREEDOM, posterior.centre, posterior.spread)

    def moment(power: int) -> float:
        found = quad(lambda s: s**power * prior.pdf(s) * norm.pdf(rating, s, 60), 900, 2300, points=(1480, rating))
        return float(found[0])

    mean = moment(1) / moment(0)
    error = np.sqrt(moment(2) / moment(0) - mean**2)
    assert posterior.means[-1] == pytest.approx(mean, abs=4)
    assert posterior.errors[-1] == pytest.approx(error, rel=0.06)


def test_a_bot_far_off_neither_moves_nor_widens_the_field() -> None:
    strengths = np.random.default_rng(1).normal(1500, 39, 12)
    ratings = strengths + np.random.default_rng(2).normal(0, 20, 12)
    field = shrunk(ratings, np.full(12, 20.0))
    joined = shrunk(np.append(ratings, 1100.0), np.full(13, 20.0))
    assert joined.means[-1] == pytest.approx(1100, abs=15)
    assert np.abs(joined.means[:-1] - field.means).max() < 9


@pytest.mark.thorough
@pytest.mark.parametrize("bots", [6, 23, pytest.param(100, marks=pytest.mark.long)])
def test_intervals_hold_and_so_does_the_leader_s(bots: int) -> None:
    chance, held, leader, plain = np.random.default_rng(bots), 0.0, 0, 0
    worlds = 300
    for _ in range(worlds):
        strengths, errors = chance.normal(1500, 39, bots), chance.uniform(15, 60, bots)
        ratings = chance.normal(strengths, errors)
        means, deviations, _, _ = shrunk(ratings, errors)
        within = np.abs(means - strengths) <= 1.96 * deviations
        held += within.mean() / worlds
        leader += within[means.argmax()]
        plain += (np.abs(ratings - strengths) <= 1.96 * errors)[ratings.argmax()]
    assert 0.93 < held < 0.97
    assert leader / worlds > 0.915, "93 % less two errors of 300 worlds"
    assert plain < leader, "what the leader's would be without"


def test_the_order_of_the_field_does_not_show() -> None:
    chance = np.random.default_rng(3)
    ratings, errors = chance.normal(1500, 60, 30), chance.uniform(10, 90, 30)
    turned = shrunk(ratings[::-1], errors[::-1])
    assert shrunk(ratings, errors).means == pytest.approx(turned.means[::-1], abs=1e-9)


NONE = (np.zeros(0), np.zeros(0))


@pytest.mark.parametrize(
    ("older", "errors", "rating", "error"),
    [
        ([1500.0], [20.0], 1620.0, 20.0),
        ([1500.0], [20.0], 1500.0, 250.0),
        ([1490.0, 1540.0, 1505.0], [26.0, 30.0, 24.0], 1550.0, 26.0),
        ([1490.0, 1500.0], [30.0, 25.0], 1650.0, 35.0),
        ([1495.0 + 5 * n for n in range(6)], [40.0] * 6, 1560.0, 40.0),
    ],
)
def test_a_version_is_where_bayes_has_it_among_its_siblings(
    older: list[float], errors: list[float], rating: float, error: float
) -> None:
    """Draw a million bots from the documented prior. Weight them by the ratings of their versions."""
    strengths = 1480 + 32 * student(FREEDOM).ppf((np.arange(400) + 0.5) / 400)
    field = [NONE] * 400
    posterior = shrunk(
        np.append(strengths, rating),
        np.append(np.full(400, 2.0), error),
        [*field, (np.array(older), np.array(errors))],
    )
    chance = np.random.default_rng(7)
    draws, versions = 500_000, len(older) + 1
    spreads = np.abs(60 * chance.normal(size=draws))[:, None]
    bots = posterior.centre + posterior.spread * chance.standard_t(FREEDOM, draws)[:, None]
    drawn = bots + spreads * chance.normal(size=(draws, versions))
    logs = -((((np.array([*older, rating]) - drawn) / np.array([*errors, error])) ** 2).sum(axis=1)) / 2
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    assert 1 / (weights**2).sum() > 300, "enough of the draws are likely"
    mean = float((weights * drawn[:, -1]).sum())
    deviation = float(np.sqrt((weights * (drawn[:, -1] - mean) ** 2).sum()))
    assert posterior.means[-1] == pytest.approx(mean, abs=4)
    assert posterior.errors[-1] == pytest.approx(deviation, rel=0.08)


def test_the_luckiest_of_many_versions_is_drawn_towards_them_and_one_that_is_better_is_not() -> None:
    chance = np.random.default_rng(8)
    field, errors = chance.normal(1500, 39, 30), np.full(31, 26.0)
    rated = field + chance.normal(0, 26, 30)
    alike = 1500 + 26 * norm.ppf((np.arange(10) + 0.5) / 10)

    def last(rating: float, older: NDArray[np.float64]) -> float:
        versions = [*[NONE] * 30, (older, np.full(len(older), 26.0))]
        return float(shrunk(np.append(rated, rating), errors, versions).means[-1])

    assert alike[-1] > 1540
    assert last(alike[-1], alike[:-1]) < 1515
    assert last(1620, alike[:-1]) > 1575
    assert last(1620, np.array([1500.0])) > 1575


def test_what_a_bot_with_one_version_is_does_not_depend_on_the_spread_of_versions() -> None:
    chance = np.random.default_rng(9)
    ratings, errors = chance.normal(1500, 60, 12), chance.uniform(10, 90, 12)
    plain, named = shrunk(ratings, errors), shrunk(ratings, errors, [NONE] * 12)
    assert np.array_equal(plain.means, named.means)
    assert np.array_equal(plain.errors, named.errors)


def test_a_bot_alone_still_has_its_versions() -> None:
    alone = shrunk(np.array([1600.0]), np.array([25.0]), [(np.array([1500.0]), np.array([25.0]))])
    assert 1520 < alone.means[0] < 1598
