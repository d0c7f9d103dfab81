"""The wall clock, for times that people read. Within a match, time counts from the match's beginning."""

from __future__ import annotations

import time


def now_us() -> int:
    """Return microseconds since 1970, the store's unit of instants."""
    return time.time_ns() // 1000
