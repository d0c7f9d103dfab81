"""Scores of an event's matches: points minus the seat's long-run mean and minus the part that the deal explains.

All sums add doubles in a stated order, so every machine computes the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final, NamedTuple

HOUSE: Final = -1
"""Index that stands for any house bot at a table. House bots have no strength."""


class FrozenAdjustment(NamedTuple):
    """Constants that adjust the scores. They come from matches before the event, so that the scores are unbiased."""

    means: tuple[float, ...]
    """Mean points by seat."""
    baselines: tuple[float, ...]
    """Mean baseline by seat."""
    share: float
    """β: points explained by each point of a baseline above the table's mean."""
    table: float
    """δ: points explained by each point of the table's mean baseline."""


def no_adjustment(seats: int) -> FrozenAdjustment:
    """Return the adjustment that leaves each score equal to the points."""
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


def _mean(values: Sequence[float]) -> float:
    """Return the mean, adding the values in sequence, because since Python 3.12 `sum` corrects its rounding errors."""
    return reduce(add, values) / len(values)
