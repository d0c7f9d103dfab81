"""Empirical-Bayes shrinkage: ratings drawn towards the field, each by as much as its error is large beside the spread.

The best of many ratings is the best partly by luck, so that its own interval misses too often (the winner's curse); the
posterior mean does not. Model: rating_i = strength_i + N(0, error_i²) and strength_i = centre + spread·t₄, Student's t
with four degrees of freedom, which leaves a bot far off the field where it is. It is taken as a normal distribution
whose variance is spread²/λ, λ ~ Gamma(2, 2), at `LEVELS` quantiles of λ. The spread is averaged over a fixed grid, as a
field of eight does not tell its own. Its prior is ∝ s/(1 + (s/100)²)^(3/2): heavy-tailed, and nothing at 0, else small
fields would be taken for equals too often (Chung et al. 2013). The centre has a flat prior, and is taken as normal
about its maximum.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ladder.fit import Floats

FREEDOM: Final = 4.0
"""Degrees of freedom of the distribution of strengths."""
LEVELS: Final = 32
SPREADS: Final = 2.0 ** (np.arange(37) / 4)
"""Elo, the grid of spreads: 1 to 512, a factor of 2^¼ apart."""
SPREAD_SCALE: Final = 100.0
"""Elo, of the spread's prior, whose median is √3 times as much."""
MIN_ERROR: Final = 1.0
"""Elo, lower bound of errors."""
CENTRE_STEPS: Final = 15
"""Steps to the most probable centre; each is a weighted mean (expectation maximisation)."""


class Posterior(NamedTuple):
    """Strengths as far as they are known, given the ratings of the whole field."""

    means: Floats
    """[n], Elo."""
    errors: Floats
    """[n], posterior standard deviations in Elo, with what centre and spread leave open."""
    centre: float
    """Elo, the field's."""
    spread: float
    """Elo, of a typical strength about the centre."""


def shrunk(ratings: Floats, errors: Floats) -> Posterior:
    """Compute the posterior of the strengths [n] from ratings and their independent standard errors [n], in Elo.

    One rating alone stays as it is: there is no field to compare it with.
    """
    variances = np.maximum(errors, MIN_ERROR) ** 2
    if len(ratings) < 2:
        return Posterior(ratings, np.sqrt(variances), float(ratings.sum()), 0.0)
    multiples = _variance_multiples()[:, None]
    found = [_given(ratings, variances, spread**2 * multiples) for spread in SPREADS.tolist()]
    # The grid is even in log spread: a factor of the spread makes a density over the spread one over its logarithm.
    prior = np.log(SPREADS**2 / (1 + (SPREADS / SPREAD_SCALE) ** 2) ** 1.5)
    likelihoods = np.array([each.likelihood for each in found]) + prior
    weights = np.exp(likelihoods - likelihoods.max())
    weights /= weights.sum()
    share = weights[:, None]
    means = np.array([each.means for each in found])
    mean = (share * means).sum(axis=0)
    variance = (share * (np.array([each.variances for each in found]) + (means - mean) ** 2)).sum(axis=0)
    centre = float((weights * np.array([each.centre for each in found])).sum())
    return Posterior(mean, np.sqrt(variance), centre, float(np.sqrt((weights * SPREADS**2).sum())))


class _Given(NamedTuple):
    """The posterior for one spread."""

    likelihood: float
    """Logarithm of the ratings' likelihood."""
    means: Floats
    variances: Floats
    centre: float


def _given(ratings: Floats, errors: Floats, spreads: Floats) -> _Given:
    """Compute the posterior [n] from variances of the errors [n] and of the strengths, at each quantile [levels, 1]."""
    variances = spreads + errors
    centre = float(np.median(ratings))
    for _ in range(CENTRE_STEPS):
        weights = _shares(ratings - centre, variances)[0] / variances
        centre = float((weights * ratings).sum() / weights.sum())
    shares, densities = _shares(ratings - centre, variances)
    of_centre = 1 / float((shares / variances).sum())
    kept = spreads / variances
    means = centre + kept * (ratings - centre)
    mean = (shares * means).sum(axis=0)
    spread = kept * errors + (1 - kept) ** 2 * of_centre + (means - mean) ** 2
    likelihood = float(densities.sum()) + np.log(of_centre) / 2
    return _Given(likelihood, mean, (shares * spread).sum(axis=0), centre)


def _shares(distances: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Compute how probable each quantile [levels, n] is, and the log density [n] of each rating."""
    logs = -(np.log(variances) + distances**2 / variances) / 2
    largest = logs.max(axis=0)
    shares = np.exp(logs - largest)
    total = shares.sum(axis=0)
    return shares / total, largest + np.log(total)


def _variance_multiples() -> NDArray[np.float64]:
    """Compute 1/λ at the middles of `LEVELS` equal shares of λ ~ Gamma(ν/2, ν/2)."""
    from scipy.special import gammaincinv

    middles = (np.arange(LEVELS) + 0.5) / LEVELS
    multiples: Floats = FREEDOM / 2 / gammaincinv(FREEDOM / 2, middles)
    return multiples
