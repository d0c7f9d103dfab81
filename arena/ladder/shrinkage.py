"""Empirical-Bayes shrinkage: uncertain ratings are pulled towards the field.

The best of many ratings is best partly by luck, so its interval misses the true rating too often (the winner's curse).
The interval of the posterior mean does not. Model: rating_i = strength_i + N(0, error_i²) and strength_i = centre +
spread·t₄. Here t₄ is Student's t with four degrees of freedom, which hardly moves a bot that is far from the field. It
is computed as a mixture of normal distributions with variance spread²/λ, λ ~ Gamma(2, 2), at `LEVELS` quantiles of λ.
The spread is averaged over a fixed grid, because a field of eight bots does not determine it. Its prior is ∝ s/(1 +
(s/100)²)^(3/2). It is heavy-tailed, and 0 at 0, because otherwise the bots of small fields would count as equal too
often (Chung et al. 2013). The centre has a flat prior and a normal approximation about its maximum.

This strength belongs to a bot. Each of the bot's versions differs from it by N(0, τ²), so that the luckiest of many
versions is also pulled towards its siblings. Each bot has its own τ, averaged over quantiles of a half-normal
distribution by the likelihood of its versions' ratings. For a given τ, the versions together are one observation of the
bot: their mean with weights 1/(error² + τ²). For a bot with a single version, τ is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ladder.symmetric import Floats

FREEDOM: Final = 4.0
"""Degrees of freedom of the distribution of strengths."""
LEVELS: Final = 32
SPREADS: Final = 2.0 ** (np.arange(37) / 4)
"""The grid of spreads in Elo: from 1 to 512, in steps of a factor of 2^¼."""
SPREAD_SCALE: Final = 100.0
"""Scale of the spread's prior, in Elo. The prior's median is √3 times as large."""
MIN_ERROR: Final = 1.0
"""Lower bound of standard errors, in Elo."""
VERSION_SPREAD: Final = 60.0
"""Scale of the half-normal prior of τ, in Elo."""
VERSION_LEVELS: Final = 12
CENTRE_STEPS: Final = 15
"""Number of steps to the most probable centre. Each step computes a weighted mean (expectation maximisation)."""


class Posterior(NamedTuple):
    """The posterior of strengths, given the ratings of the whole field."""

    means: Floats
    """[n], Elo."""
    errors: Floats
    """Posterior standard deviations [n] in Elo, which include the uncertainty of centre and spread."""
    centre: float
    """The centre of the field, in Elo."""
    spread: float
    """The typical distance of a strength from the centre, in Elo."""


def shrunk(ratings: Floats, errors: Floats, older: Sequence[tuple[Floats, Floats]] = ()) -> Posterior:
    """Compute the posterior of the strengths [n] from ratings and their independent standard errors [n], in Elo.

    `older` contains the ratings and errors of each bot's other versions, in the order of `ratings`. By default there
    are none. The rating of a single bot with one version does not change, because there is no field.
    """
    versions = [*older] or [_NO_VERSIONS] * len(ratings)
    if len(ratings) < 2 and not any(len(rated) for rated, _ in versions):
        return Posterior(ratings, np.maximum(errors, MIN_ERROR), float(ratings.sum()), 0.0)
    cases = _cases(ratings, np.maximum(errors, MIN_ERROR) ** 2, versions)
    multiples = _variance_multiples()[:, None]
    found = [_given(cases, spread**2 * multiples) for spread in SPREADS.tolist()]
    # The grid is evenly spaced in log(spread). So a density over the spread is multiplied by the spread.
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


_NO_VERSIONS: Final = (np.zeros(0), np.zeros(0))


class _Cases(NamedTuple):
    """The mean of a bot's versions for each possible τ, as arrays [cases] in which a bot's cases are adjacent."""

    first: NDArray[np.int64]
    """Index of each bot's first case [n]."""
    bot: NDArray[np.int64]
    likelihood: Floats
    """Log-likelihood of the differences between the versions."""
    observed: Floats
    """The weighted mean of the versions, in Elo."""
    variance: Floats
    """Variance of `observed` around the bot's strength."""
    rating: Floats
    """Rating of the newest version, in Elo."""
    own: Floats
    """The share of the newest version's distance from the others' mean that is real: τ²/(τ² + error²)."""
    left: Floats
    """The remaining variance of the newest version's distance: own · error²."""


def _cases(ratings: Floats, variances: Floats, older: Sequence[tuple[Floats, Floats]]) -> _Cases:
    rows, counts = [], []
    for rating, variance, (others, errors) in zip(ratings, variances, older, strict=True):
        spreads = _version_variances() if len(others) else np.zeros(1)
        rated = np.append(others, rating)
        precisions = 1 / (spreads[:, None] + np.append(np.maximum(errors, MIN_ERROR) ** 2, variance))
        total = precisions.sum(axis=1)
        observed = (precisions * rated).sum(axis=1) / total
        apart = (precisions * (rated - observed[:, None]) ** 2).sum(axis=1)
        likelihood = (np.log(precisions).sum(axis=1) - np.log(total) - apart) / 2
        own = spreads / (spreads + variance)
        same = np.full(len(spreads), rating)
        rows.append((likelihood, observed, 1 / total, same, own, own * variance))
        counts.append(len(spreads))
    first = np.cumsum([0, *counts[:-1]])
    return _Cases(first, np.repeat(np.arange(len(counts)), counts), *map(np.concatenate, zip(*rows, strict=True)))


class _Given(NamedTuple):
    """The posterior for one spread."""

    likelihood: float
    """Logarithm of the ratings' likelihood."""
    means: Floats
    variances: Floats
    centre: float


def _given(cases: _Cases, spreads: Floats) -> _Given:
    """Compute the posterior [n] from the variance of the bots' strengths at each quantile [levels, 1]."""
    variances = spreads + cases.variance
    centre = float(np.median(cases.observed[cases.first]))
    for _ in range(CENTRE_STEPS):
        weights = _shares(cases, centre, variances)[0] / variances
        centre = float((weights * cases.observed).sum() / weights.sum())
    shares, densities = _shares(cases, centre, variances)
    of_centre = 1 / float((shares / variances).sum())
    kept, others = spreads / variances, 1 - cases.own
    means = others * (centre + kept * (cases.observed - centre)) + cases.own * cases.rating
    mean = _by_bot(cases, shares * means)
    unknown = others**2 * kept * cases.variance + cases.left + (others * (1 - kept)) ** 2 * of_centre
    spread = _by_bot(cases, shares * (unknown + (means - mean[cases.bot]) ** 2))
    likelihood = float(densities.sum()) + np.log(of_centre) / 2
    return _Given(likelihood, mean, spread, centre)


def _shares(cases: _Cases, centre: float, variances: Floats) -> tuple[Floats, Floats]:
    """Compute the probability of each quantile and case [levels, cases], and the bots' log densities [n]."""
    logs = cases.likelihood - (np.log(variances) + (cases.observed - centre) ** 2 / variances) / 2
    largest = np.maximum.reduceat(logs.max(axis=0), cases.first)
    shares = np.exp(logs - largest[cases.bot])
    total = _by_bot(cases, shares)
    return shares / total[cases.bot], largest + np.log(total)


def _by_bot(cases: _Cases, values: Floats) -> Floats:
    """Sum values [levels, cases] by bot [n]."""
    sums: Floats = np.add.reduceat(values.sum(axis=0), cases.first)
    return sums


def _variance_multiples() -> NDArray[np.float64]:
    """Compute 1/λ at the middles of `LEVELS` equal shares of λ ~ Gamma(ν/2, ν/2)."""
    from scipy.special import gammaincinv

    middles = (np.arange(LEVELS) + 0.5) / LEVELS
    multiples: Floats = FREEDOM / 2 / gammaincinv(FREEDOM / 2, middles)
    return multiples


def _version_variances() -> Floats:
    """Compute τ² at the middles of `VERSION_LEVELS` equal shares of the half-normal prior of τ."""
    from scipy.special import ndtri

    middles = (np.arange(VERSION_LEVELS) + 0.5) / VERSION_LEVELS
    variances: Floats = (VERSION_SPREAD * ndtri((1 + middles) / 2)) ** 2
    return variances
