"""Strengths estimated from an event's scores, and how likely each bot is to be the best.

A bot's strength ŝ is the mean over its matches of score − λ·(mean of ŝ over the others at the table, relative to the
field's mean). λ is one number for the event, fitted by least squares. All sums add doubles in a stated order. A normal
draw is the quantile at (word + ½)/65536, computed with + − × ÷ √ alone, because maths libraries differ in the last
bits. So every machine computes the same bits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from hashlib import sha256
from math import sqrt
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.scheduling.event.lots import DRAWS, WORDS
from arena.scheduling.event.scores import HOUSE

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

ALTERNATIONS: Final = 20
"""Number of times that λ is computed from the strengths, and the strengths from λ."""
OPPONENTS_FROM: Final = 100
"""Minimum number of matches in an event before the strength of the others at a table counts."""
LEAST_SPREAD: Final = 20
"""The field's true variance is assumed to be at least its observed variance divided by this number."""
BLOCK: Final = 2_000
"""Number of draws computed at a time, to limit the use of memory. A block ends at the end of a digest."""
WORDS_OF_DIGEST: Final = 16
QUANTILES: Final = "5e95a6f7326651739dfd33fe61c41d4cbd2f9140c94510a0d1f08fb36f239390"
"""SHA-256 of the quantiles as little-endian doubles."""
LOG_2: Final = 0.6931471805599453
ROOT_OF_HALF: Final = 0.7071067811865476
LOG_TERMS: Final = 13
MIDDLE: Final = 0.425
"""Distance from ½ up to which the first pair of polynomials holds."""
# The polynomials of Wichura's algorithm AS 241, highest power first
MIDDLE_ABOVE: Final = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080,
)  # fmt: skip
MIDDLE_BELOW: Final = (
    5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
    5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0,
)  # fmt: skip
TAIL_ABOVE: Final = (
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
    3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734,
)  # fmt: skip
TAIL_BELOW: Final = (
    1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0,
)  # fmt: skip
TAIL_ORIGIN: Final = 1.6


class ArithmeticDiffersError(RuntimeError):
    """This machine's floating-point results differ from those of all others."""


class Strengths(NamedTuple):
    """Estimates from an event's matches, by bot."""

    values: Floats
    """Strengths, in points; 0 for a bot without a match."""
    matches: Ints
    variance: float
    """Variance of a score about its expectation."""
    opponents: float
    """λ: change of a score per point of the other bots' mean strength."""


def strengths(bots: int, tables: Sequence[Sequence[int]], scores: Sequence[Sequence[float]]) -> Strengths:
    """Estimate the strengths of bots 0 … `bots` − 1 from each match's bots (or `HOUSE`) and scores, both by seat."""
    seated, score = np.array(tables, np.int64), np.array(scores, np.float64)
    ranked = seated != HOUSE
    own, value = seated[ranked], score[ranked]
    matches = np.bincount(own, minlength=bots).astype(np.int64)
    played = matches > 0
    times = np.maximum(matches, 1)
    found = np.bincount(own, value, bots) / times
    opponents, others = 0.0, np.zeros_like(value)
    for _ in range(ALTERNATIONS if len(tables) >= OPPONENTS_FROM else 0):
        about = np.where(ranked, (found - _mean(found[played]))[seated], 0.0)
        total = about[:, 0]
        for seat in range(1, about.shape[1]):
            total = total + about[:, seat]
        others = ((total[:, None] - about) / (about.shape[1] - 1))[ranked]
        squares = _sum(others * others)
        opponents = _sum((value - found[own]) * others) / squares if squares > 0 else 0.0
        found = np.bincount(own, value - opponents * others, bots) / times
    freedom = len(value) - int(played.sum())
    if freedom > 0:
        rest = value - (found[own] + opponents * others)
        variance = _sum(rest * rest) / freedom
    else:  # with one match each, nothing shows how much one bot's scores vary
        variance = _variance(value)
    return Strengths(found, matches, variance, opponents)


class StrengthPosterior(NamedTuple):
    """A normal distribution for each bot's strength; −∞ for a bot without a match."""

    means: Floats
    deviations: Floats


def posterior(estimated: Strengths) -> StrengthPosterior:
    """Shrink the estimates towards the field's mean, the uncertain ones most.

    A few bots reveal little about how much bots differ. So the field's variance is assumed to be at least the standard
    error of its estimate. Otherwise equal estimates would look certain.
    """
    played = estimated.matches > 0
    errors = estimated.variance / np.maximum(estimated.matches, 1)
    mean, spread = _mean(estimated.values[played]), _variance(estimated.values[played])
    error, bots = _mean(errors[played]), int(played.sum())
    unknown = error * sqrt(2 / (bots - 1)) if bots > 1 else error
    true = max(spread - error, spread / LEAST_SPREAD, unknown)
    total = true + errors
    kept = np.where(total > 0, true / np.where(total > 0, total, 1.0), 1.0)
    means = np.where(played, mean + kept * (estimated.values - mean), -np.inf)
    return StrengthPosterior(means, np.where(played, np.sqrt(kept) * np.sqrt(errors), 0.0))


class Chances(NamedTuple):
    """Numbers of draws with a given outcome, out of `DRAWS`."""

    best: tuple[int, ...]
    """For each bot, the draws in which it is the best."""
    above: int
    """Draws in which some bot is better than the one in first place by more than the margin."""


def chances(key: bytes, field: StrengthPosterior, first: int, margin: float, gone: Collection[int] = ()) -> Chances:
    """Draw all strengths `DRAWS` times. Count who is best, and how often a bot exceeds `first` by more than `margin`.

    Bots that are `gone` are left out of both counts.
    """
    bots = len(field.means)
    best, above = np.zeros(bots, np.int64), 0
    for normal in normal_draws(key, bots):
        drawn = field.means + field.deviations * normal
        drawn[:, [*gone]] = -np.inf
        best += np.bincount(drawn.argmax(axis=1), minlength=bots)
        above += int((drawn.max(axis=1) - drawn[:, first] > margin).sum())
    return Chances(tuple(best.tolist()), above)


def normal_draws(key: bytes, bots: int) -> Iterator[Floats]:
    """Iterate over blocks [draws, bots] of standard normal numbers. In all, there are `DRAWS` numbers for each bot."""
    digests = BLOCK * bots // WORDS_OF_DIGEST
    for block in range(DRAWS // BLOCK):
        numbers = range(block * digests, (block + 1) * digests)
        content = b"".join([sha256(key + number.to_bytes(4, "big")).digest() for number in numbers])
        drawn: Floats = quantiles()[np.frombuffer(content, ">u2")]
        yield drawn.reshape(BLOCK, bots)


@cache
def quantiles() -> Floats:
    """Return the normal quantile of each word.

    Raises:
        ArithmeticDiffersError: this machine computes other quantiles.
    """
    below = (np.arange(WORDS // 2) + 0.5) / WORDS
    centred = below - 0.5
    inside = 0.180625 - centred * centred
    middle = _polynomial(MIDDLE_ABOVE, inside) * centred / _polynomial(MIDDLE_BELOW, inside)
    outside = np.sqrt(-_log(below)) - TAIL_ORIGIN
    tail = -(_polynomial(TAIL_ABOVE, outside) / _polynomial(TAIL_BELOW, outside))
    half = np.where(centred < -MIDDLE, tail, middle)
    found: Floats = np.concatenate([half, -half[::-1]])
    digest = sha256(found.astype("<f8").tobytes()).hexdigest()
    if digest != QUANTILES:
        raise ArithmeticDiffersError(
            f"the normal quantiles have the digest {digest} here, not {QUANTILES}: this machine's doubles differ, so "
            "use another one for events"
        )
    return found


def _polynomial(factors: Sequence[float], at: Floats) -> Floats:
    value = np.full_like(at, factors[0])
    for factor in factors[1:]:
        value = value * at + factor
    return value


def _log(values: Floats) -> Floats:
    """Return natural logarithms by the series of the inverse hyperbolic tangent."""
    fraction, exponent = np.frexp(values)
    small = fraction < ROOT_OF_HALF
    fraction, exponent = np.where(small, 2 * fraction, fraction), exponent - small
    ratio: Floats = (fraction - 1) / (fraction + 1)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for term in reversed(range(LOG_TERMS)):
        total = total * square + 1 / (2 * term + 1)
    found: Floats = exponent * LOG_2 + 2 * ratio * total
    return found


def _sum(values: Floats) -> float:
    """Add the values in sequence. The order of numpy's own sum depends on the machine."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def _mean(values: Floats) -> float:
    return _sum(values) / max(1, len(values))


def _variance(values: Floats) -> float:
    about = values - _mean(values)
    return _sum(about * about) / max(1, len(values) - 1)
