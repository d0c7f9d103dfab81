"""P(better) is right as often as it claims, for large and small gains. With few versions it equals the Bayesian
result.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm
from scipy.stats import t as student

from arena.ladder.version_gains import VersionGains


def bayes(difference: float, error: float) -> float:
    """Return the Bayesian result as a sum over small steps of the prior's spread and of gains."""
    spreads = np.exp(np.linspace(0, np.log(512), 200))[:, None]
    prior = spreads / (1 + (spreads / 60) ** 2) ** 1.5
    gains = np.concatenate([-np.geomspace(5000, 0.01, 4000), np.geomspace(0.01, 5000, 4000)])
    likely = student.pdf(gains / spreads, 4) / spreads * norm.pdf(difference, gains, error) * np.gradient(gains)
    joint = (prior * likely).sum(axis=0)
    return float(joint[4000:].sum() / joint.sum())


@pytest.mark.parametrize(("difference", "error"), [(50.0, 35.0), (-20.0, 60.0), (120.0, 35.0), (10.0, 10.0)])
def test_where_no_other_versions_are_known_it_is_what_bayes_says_of_the_documented_prior(
    difference: float, error: float
) -> None:
    assert VersionGains().better(difference, error) == pytest.approx(bayes(difference, error), abs=0.012)


@pytest.mark.parametrize("deviation", [10.0, 20.0, 60.0, 150.0])
def test_it_is_right_as_often_as_it_says(deviation: float) -> None:
    chance = np.random.default_rng(int(deviation))
    said = right = alone = alone_right = 0.0
    for _ in range(30):
        gains, errors = chance.normal(0, deviation, 120), chance.uniform(20, 50, 120)
        measured = chance.normal(gains, errors)
        learned = VersionGains(zip(measured.tolist(), errors.tolist(), strict=True))
        better = np.array([learned.better(*each) for each in zip(measured.tolist(), errors.tolist(), strict=True)])
        for probabilities, kind in ((better, "learned"), (ndtr(measured / errors), "alone")):
            sure = np.maximum(probabilities, 1 - probabilities)
            chosen = sure >= 0.7
            hits = float(((probabilities > 0.5) == (gains > 0))[chosen].sum())
            if kind == "learned":
                said, right = said + float(sure[chosen].sum()), right + hits
            else:
                alone, alone_right = alone + float(sure[chosen].sum()), alone_right + hits
    assert 0.97 < right / said < 1.08
    assert alone_right / alone < (0.92 if deviation <= 20 else 1.0), "what the difference alone would promise"


def test_a_difference_says_less_where_versions_gain_little() -> None:
    errors = [35.0] * 60
    chance = np.random.default_rng(3)
    little, much = (
        VersionGains(zip(chance.normal(0, np.hypot(gain, 35), 60).tolist(), errors, strict=True)) for gain in (5, 200)
    )
    assert little.better(60, 35) < 0.75 < VersionGains().better(60, 35) < much.better(60, 35) < ndtr(60 / 35)
    assert little.better(0, 35) == pytest.approx(0.5)
    assert little.better(40, 35) + little.better(-40, 35) == pytest.approx(1)


def test_figures_without_an_error_and_absurd_ones_are_certain() -> None:
    for gains in (VersionGains(), VersionGains([(5000.0, 1.0)] * 100)):
        assert gains.better(3.0, 0.0) == 1.0
        assert gains.better(-3.0, 0.0) == 0.0
        assert gains.better(0.0, 0.0) == 0.5
        assert gains.better(-9000.0, 1.0) == 0.0
