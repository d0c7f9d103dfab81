"""The wall clock, for times that people read. Inside a match, time counts from its beginning."""

from __future__ import annotations

import time


def now_us() -> int:
    """Microseconds since 1970, the store's unit of instants."""
    return time.time_ns() // 1000
