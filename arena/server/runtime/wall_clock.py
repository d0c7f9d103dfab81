"""The wall clock, for times that people read. Within a match, time counts from the start of the match."""

from __future__ import annotations

import time


def now_us() -> int:
    """Return the current time in microseconds since 1970, the store's unit of time."""
    return time.time_ns() // 1000
