"""This process's memory: collected rarely, and in huge pages if the system has them.

A processor caches the places of some thousand pages. With pages of 4 KiB that is less memory than a few hundred matches
use, so every decision of another match begins with looking up its pages. So when the process has grown much, its new
memory is moved to pages of 2 MiB. A piece that is only partly in use then takes 2 MiB. If the system refuses, nothing
changes; nothing depends on it.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import trio

SIZE: Final = 2 << 20
"""Bytes of a huge page, of those processors that this was measured on."""
MUCH: Final = 32 << 20
"""Number of bytes by which a process must grow before the next move: less gains nothing."""
INTERVAL: Final = 5.0
"""Seconds between two checks of its growth."""
HUGE_PAGES, COLLAPSE = 14, 25
"""Advice to `madvise`: use huge pages from now on; and move existing memory at once (Linux 6.1 and later)."""
ANONYMOUS: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *(?:\[heap\])?$", re.MULTILINE)
MEMORY: Final = Path("/proc/self/statm")


async def keep_in_huge_pages() -> None:
    """Move the process's memory to huge pages whenever it has grown, until cancelled; return if there are none."""
    if sys.platform != "linux" or not MEMORY.exists():
        return
    seen = resident()
    while True:
        await trio.sleep(INTERVAL)
        if (now := resident()) > seen + MUCH:
            seen = now
            await trio.to_thread.run_sync(advise)


def resident() -> int:
    """Return the bytes of this process's memory."""
    return int(MEMORY.read_text().split()[1]) * mmap.PAGESIZE


def advise() -> None:
    """Request huge pages for all memory that is no file's, and move the used memory there, piece by piece."""
    madvise = ctypes.CDLL(None).madvise  # A call of it lets other threads run.
    for start, end in _whole(Path("/proc/self/maps").read_text()):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), HUGE_PAGES)
        for piece in range(start, end, SIZE):
            madvise(ctypes.c_void_p(piece), ctypes.c_size_t(SIZE), COLLAPSE)


def _whole(maps: str) -> Iterator[tuple[int, int]]:
    """The ranges of whole huge pages in this process's anonymous memory."""
    for found in ANONYMOUS.finditer(maps):
        start, end = -(-int(found[1], 16) // SIZE) * SIZE, int(found[2], 16) // SIZE * SIZE
        if start < end:
            yield start, end


def collect_rarely() -> None:
    """Exempt existing objects from garbage collection, and collect rarely: it took a sixth of the time with many
    streams."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
