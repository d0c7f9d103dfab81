"""Waiting for conditions that can only be checked repeatedly."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0


def until(done: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Wait until something holds; fail after `patience` seconds."""
    end = time.monotonic() + patience
    while not done():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.01)
