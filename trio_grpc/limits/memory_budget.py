"""A budget for the memory that peers use before they are authenticated.

If all peers together exceed it, the largest holder is evicted first, so that hoarding does not shut out others.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final, Protocol

MAGNITUDES: Final = 64
"""Maximum bit length of a holder's number of bytes."""


MUCH: Final = 1 << 20
"""Minimum peak in bytes after which freed memory is returned to the system."""
# A function of glibc.
_trim: Final = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


class Holder(Protocol):
    """A call or connection that stores bytes for an untrusted peer: requests, unfinished frames, unread answers."""

    held: int
    """Number of bytes that the budget counts for this holder. Only `MemoryBudget` sets it."""

    def evict(self) -> None:
        """Release all memory, which the budget no longer counts, and send the reason to the peer."""


class MemoryBudget:
    """Limit on the bytes that all untrusted peers of a listener use together."""

    def __init__(self, max_memory_untrusted: int) -> None:
        self.held = 0
        """Number of bytes that all holders use now."""
        self._peak = 0
        """The maximum of `held` since memory was last returned."""
        self._max_memory_untrusted = max_memory_untrusted
        self._by_magnitude: list[dict[Holder, None]] = [{} for _ in range(MAGNITUDES)]
        """Holders by the bit length of their number of bytes, in order of arrival, so that the largest is found
        quickly.
        """

    def hold(self, holder: Holder, size: int) -> None:
        """Set a holder's number of bytes. 0 removes the holder.

        While the budget is exceeded, evict the largest holder.
        """
        self._set(holder, size)
        while self.held > self._max_memory_untrusted:
            largest = next(iter(next(filter(None, reversed(self._by_magnitude)))))
            self._set(largest, 0)
            largest.evict()

    def return_memory(self) -> None:
        """Make the allocator return freed memory to the system after a flood."""
        if self._peak > MUCH and self.held < self._peak // 4:
            self._peak = self.held
            if _trim is not None:
                _trim(0)

    def _set(self, holder: Holder, size: int) -> None:
        before, after = holder.held.bit_length(), size.bit_length()
        self.held += size - holder.held
        self._peak = max(self._peak, self.held)
        holder.held = size
        if before != after:
            if before:
                del self._by_magnitude[before][holder]
            if after:
                self._by_magnitude[after][holder] = None
