"""The wall clock, for what people read; everything inside a match counts from its beginning."""

from __future__ import annotations

import time


def now_us() -> int:
    """Microseconds since 1970, as the store keeps instants."""
    return time.time_ns() // 1000
