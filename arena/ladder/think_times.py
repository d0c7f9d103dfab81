"""Histograms of thinking times with geometric buckets, each 10 % wider than the previous one, so that percentiles are
accurate to 5 %.

Histograms are merged by adding their counts. Times are whole microseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil, log, sqrt
from typing import Final

RATIO: Final = 1.1
"""Ratio of a bucket's bounds. A bucket stands for its geometric mean, so the error is at most a factor of √1.1."""
_STEP: Final = 1 / log(RATIO)


def histogram(times: Iterable[int]) -> Counter[int]:
    """Count the times by bucket. Bucket b contains times from 1.1^b to 1.1^(b+1), and bucket 0 also times below 1."""
    return Counter([int(log(time) * _STEP) if time > 1 else 0 for time in times])


def percentile(counts: Mapping[int, int], percent: int) -> int | None:
    """Return the time that `percent` of the times do not exceed, or None for an empty histogram."""
    rank = ceil(sum(counts.values()) * percent / 100)
    for bucket in sorted(counts):
        rank -= counts[bucket]
        if rank <= 0:
            return round(RATIO**bucket * sqrt(RATIO))
    return None
