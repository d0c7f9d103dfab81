"""Scores of an event's matches, the strengths that follow from them, and how likely each bot is the best.

A score is points minus the seat's long-run mean and minus the part that the deal explains. A bot's strength ŝ is the
mean over its matches of score − λ·(mean of ŝ over the others at the table, about the field's mean). λ is one number for
the event, by least squares. All sums add doubles in a stated order, so every machine finds the same bits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import sqrt
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.scheduling.event.draws import Floats, normal_draws

Ints: TypeAlias = NDArray[np.int64]

ALTERNATIONS: Final = 20
"""Number of times that λ and strengths are computed from each other."""
OPPONENTS_FROM: Final = 100
"""Number of matches from which the strength of the others at a table counts."""
LEAST_SPREAD: Final = 20
"""The field's true variance is assumed to be at least its observed variance divided by this number."""
HOUSE: Final = -1
"""A house bot at a table, which has no strength."""


class FrozenAdjustment(NamedTuple):
    """Constants of the scores, from matches before the event, so that they are unbiased."""

    means: tuple[float, ...]
    """Mean points by seat."""
    baselines: tuple[float, ...]
    """Mean baseline by seat."""
    share: float
    """β: points that one point of the baseline above the table's mean explains."""
    table: float
    """δ: points that one point of the table's mean baseline explains."""


def no_adjustment(seats: int) -> FrozenAdjustment:
    """Return the adjustment with which a score is the points."""
    return FrozenAdjustment((0.0,) * seats, (0.0,) * seats, 0.0, 0.0)


def adjusted_scores(
    points: Sequence[float],
    baselines: Sequence[float] | None,
    vanished: Sequence[bool],
    frozen: FrozenAdjustment,
) -> tuple[float, ...]:
    """Return the scores of a match by seat. A bot that vanished has the lowest score of its table."""
    scores = [point - mean for point, mean in zip(points, frozen.means, strict=True)]
    if baselines is not None:
        mean, usual = _mean(baselines), _mean(frozen.baselines)
        explained = frozen.table * (mean - usual)
        scores = [
            score - frozen.share * ((own - mean) - (expected - usual)) - explained
            for score, own, expected in zip(scores, baselines, frozen.baselines, strict=True)
        ]
    last = min(scores)
    return tuple(last if gone else score for score, gone in zip(scores, vanished, strict=True))


class Strengths(NamedTuple):
    """Estimates from an event's matches, by bot."""

    values: Floats
    """Strengths, in points; 0 for a bot without a match."""
    matches: Ints
    variance: float
    """Variance of a score about its expectation."""
    opponents: float
    """λ: change of a score by one point of the other bots' mean strength."""


def strengths(bots: int, tables: Sequence[Sequence[int]], scores: Sequence[Sequence[float]]) -> Strengths:
    """Estimate the strengths of bots 0 … `bots` − 1 from the bots of each match by seat (or `HOUSE`) and the scores."""
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
    else:  # each bot has one match, so no match is left to show the variance within a bot
        variance = _variance(value)
    return Strengths(found, matches, variance, opponents)


class StrengthPosterior(NamedTuple):
    """A normal distribution for each bot's strength; −∞ for a bot without a match."""

    means: Floats
    deviations: Floats


def posterior(estimated: Strengths) -> StrengthPosterior:
    """Pull the estimates towards the field's mean, by how uncertain each is.

    Few bots show little of how much they differ. So the field's variance is assumed to be at least the standard error
    of its estimate, which keeps equal estimates from looking certain.
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
    """Numbers of draws, of `DRAWS`."""

    best: tuple[int, ...]
    """Draws in which a bot is the best, by bot."""
    above: int
    """Draws in which some bot is better than the first one by more than the margin."""


def chances(key: bytes, field: StrengthPosterior, first: int, margin: float, gone: Collection[int] = ()) -> Chances:
    """Draw all strengths `DRAWS` times, and count the best ones and those above `first` by more than `margin`.

    Bots that are `gone` count as neither.
    """
    bots = len(field.means)
    best, above = np.zeros(bots, np.int64), 0
    for normal in normal_draws(key, bots):
        drawn = field.means + field.deviations * normal
        drawn[:, [*gone]] = -np.inf
        best += np.bincount(drawn.argmax(axis=1), minlength=bots)
        above += int((drawn.max(axis=1) - drawn[:, first] > margin).sum())
    return Chances(tuple(best.tolist()), above)


def _sum(values: Floats) -> float:
    """Add the values in their order; numpy's own sum adds in an order that depends on the machine."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def _mean(values: Sequence[float] | Floats) -> float:
    return _sum(np.asarray(values, np.float64)) / max(1, len(values))


def _variance(values: Floats) -> float:
    about = values - _mean(values)
    return _sum(about * about) / max(1, len(values) - 1)
