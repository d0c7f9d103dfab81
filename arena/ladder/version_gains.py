"""The probability that a version is better than the one before it, given the usual gains on this ladder.

A measured difference is a gain plus chance. If gains are usually small, a large difference is mostly chance and
promises too much. Model: difference = gain + N(0, error²), and gain = spread·t₄. Here t₄ is Student's t with four
degrees of freedom: an unknown version is as likely to be worse as better, and some versions change a lot. The spread is
estimated from the differences of all bots on the ladder and averaged over a fixed grid. Its prior is ∝ 1/(1 +
(s/60)²)^(3/2), where 60 is the initial deviation of a new version's live rating. The prior's median is 35 Elo.

Unlike the prior of the bots' spread, this prior is not 0 at 0, because many versions change nothing. This module does
not import NumPy, because the server's own process uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import erfc, exp, log, sqrt
from operator import mul
from typing import Final

from arena.ladder.live import VERSION_DEVIATION

SPREADS: Final = tuple(2.0 ** (step / 2) for step in range(19))
"""The grid of spreads in Elo, from 1 to 512."""
SIZES: Final = tuple(2.0 ** (step / 2) for step in range(-3, 21))
"""Standard deviations, in Elo, of the normal distributions whose mixture is the distribution of gains."""
MIN_ERROR: Final = 1e-6
"""Lower bound of standard errors, in Elo: far below any real error."""


def _share_below(size: float, spread: float) -> float:
    """Return the probability that a gain's deviation is below `size`: deviation = spread/√λ with λ ~ Gamma(2, 2)."""
    least = 2 * (spread / size) ** 2
    return exp(-least) * (1 + least)


def _shares(spread: float) -> tuple[float, ...]:
    """Return the probability of each of `SIZES`, with borders half-way between their logarithms."""
    below = [0.0, *(_share_below(size * 2**0.25, spread) for size in SIZES[:-1]), 1.0]
    return tuple(upper - lower for lower, upper in pairwise(below))


_SHARES: Final = tuple(map(_shares, SPREADS))
_PRIOR: Final = tuple(spread / (1 + (spread / VERSION_DEVIATION) ** 2) ** 1.5 for spread in SPREADS)
"""The grid is even in log(spread). A density over the spread, times the spread, is a density over log(spread)."""


class VersionGains:
    """The spread of the gains of a ladder's versions, estimated from their measured differences."""

    def __init__(self, measured: Iterable[tuple[float, float]] = ()) -> None:
        """Estimate the spread from differences between successive versions, each with its standard error, in Elo."""
        logs = list(map(log, _PRIOR))
        for difference, error in measured:
            densities = _densities(difference, error)
            for number, shares in enumerate(_SHARES):
                logs[number] += log(sum(map(mul, densities, shares)))
        most = max(logs)
        weights = [exp(each - most) for each in logs]
        self._sizes = [sum(map(mul, weights, shares)) / sum(weights) for shares in zip(*_SHARES, strict=True)]

    def better(self, difference: float, error: float) -> float:
        """Return the probability that a version is better than its predecessor, from their difference and its error."""
        chances = list(map(mul, self._sizes, _densities(difference, error)))
        errors = difference / max(error, MIN_ERROR) / sqrt(2)
        ahead = [erfc(-errors * size / sqrt(size**2 + error**2)) / 2 for size in SIZES]
        found: float = sum(map(mul, chances, ahead)) / sum(chances)
        return found


def _densities(difference: float, error: float) -> list[float]:
    """Return the likelihood of a difference for each of `SIZES`, up to a common factor. It is never 0."""
    variances = [size**2 + error**2 for size in SIZES]
    return [exp(max(-700.0, -(difference**2) / variance / 2)) / sqrt(variance) for variance in variances]
