"""The wall clock, for times that people read. Within a match, time counts from the start of the match.

Nodes on several machines store times in one database, where queries compare them. If a machine's clock differs from the
database's clock, the node adds a correction to each time.
"""

from __future__ import annotations

import time
from typing import Final

TOLERANCE: Final = 1_000_000
"""Difference between the clocks, in microseconds, below which a node does not correct its own clock."""


class _Correction:
    us = 0
    """The correction of this machine's clock, in microseconds."""


def machine_us() -> int:
    """Return the time of this machine's clock in microseconds since 1970."""
    return time.time_ns() // 1000


def now_us() -> int:
    """Return the current time in microseconds since 1970, the store's unit of time."""
    return machine_us() + _Correction.us


def correct(ahead: int) -> bool:
    """Set the correction of this process's clock. Return whether it changed.

    `ahead`: microseconds by which the database's clock is ahead of this machine's.
    """
    if abs(ahead - _Correction.us) < TOLERANCE:
        return False
    _Correction.us = ahead if abs(ahead) >= TOLERANCE else 0
    return True
