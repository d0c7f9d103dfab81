# Compiled: every decision passes through here.
"""Counters of durations, by bucket. Counting a duration takes a few tenths of a microsecond."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

BOUNDS: Final = (
    0.00005,
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)
"""Upper bounds of the buckets in seconds. The last bucket has none."""


class Durations:
    """Counter of the durations of one kind of work, in seconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        """Number of durations in each bucket."""
        self.seconds = 0.0
        """Sum of all durations."""

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds
