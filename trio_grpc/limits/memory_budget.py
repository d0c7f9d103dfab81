"""A budget for the memory that peers take before they are authenticated.

Where all of them together exceed it, whoever holds most is evicted first: so nobody keeps others out by hoarding.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final, Protocol

MAGNITUDES: Final = 64
"""Bit lengths of a number of bytes, at most."""


MUCH: Final = 1 << 20
"""Bytes that are worth returning to the system."""
_trim: Final = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # glibc's


class Holder(Protocol):
    """A call or a connection that keeps bytes for an untrusted peer: requests, unfinished frames, unread answers."""

    held: int
    """Bytes that count; only `MemoryBudget` sets it."""

    def evict(self) -> None:
        """Give all memory back and tell the peer why; nothing of it counts any more."""


class MemoryBudget:
    """Bytes that all untrusted peers of a listener may hold together."""

    def __init__(self, max_memory_untrusted: int) -> None:
        self.held = 0
        """Bytes that all holders have now."""
        self._peak = 0
        """The most that they had since memory was returned."""
        self._max_memory_untrusted = max_memory_untrusted
        self._by_magnitude: list[dict[Holder, None]] = [{} for _ in range(MAGNITUDES)]
        """Holders by the bit length of what they hold, the first to come first: finding the largest costs no search."""

    def hold(self, holder: Holder, size: int) -> None:
        """Set the bytes of a holder, 0 to forget it; evict holders, the largest first, while the budget is exceeded."""
        self._set(holder, size)
        while self.held > self._max_memory_untrusted:
            largest = next(iter(next(filter(None, reversed(self._by_magnitude)))))
            self._set(largest, 0)
            largest.evict()

    def return_memory(self) -> None:
        """After a flood, have the allocator give to the system what it keeps of the memory that was freed."""
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
