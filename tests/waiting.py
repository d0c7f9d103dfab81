"""Polling for conditions without an event."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0


def until(done: Callable[[], object], what: str, patience: float = PATIENCE, pause: float = 0.01) -> None:
    """Wait until a condition holds. Fail after `patience` seconds. `pause`: seconds between two checks."""
    end = time.monotonic() + patience
    while not done():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(pause)
