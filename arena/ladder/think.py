"""Think times added up: a histogram with buckets a tenth wider each, so that a percentile is right to within 5 %.

Two histograms of one bot are one by adding their counts. Times are whole microseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil, log, sqrt
from typing import Final

RATIO: Final = 1.1
"""Of a bucket's upper bound to its lower; what is said of a bucket is its geometric middle, at most √1.1 off."""
_STEP: Final = 1 / log(RATIO)


def histogram(times: Iterable[int]) -> Counter[int]:
    """How many times fall into each bucket: bucket b holds those from 1.1^b to 1.1^(b+1), and bucket 0 what is less."""
    return Counter([int(log(time) * _STEP) if time > 1 else 0 for time in times])


def percentile(counts: Mapping[int, int], percent: int) -> int | None:
    """The time that so many percent of the times do not exceed; None where there are none."""
    rank = ceil(sum(counts.values()) * percent / 100)
    for bucket in sorted(counts):
        rank -= counts[bucket]
        if rank <= 0:
            return round(RATIO**bucket * sqrt(RATIO))
    return None
