"""Polling for conditions without an event."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0


def until(done: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Wait until a condition holds. Fail after `patience` seconds."""
    end = time.monotonic() + patience
    while not done():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.01)
