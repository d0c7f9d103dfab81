"""This process's memory: garbage is collected rarely, and huge pages are used if the system has them.

A processor caches the addresses of a few thousand pages. With pages of 4 KiB, that is less memory than a few hundred
matches use, so most decisions begin by looking up the pages of their match. Therefore, when the process has grown by
`MUCH`, its new memory is moved to pages of 2 MiB. A region that is only partly used then takes a whole 2 MiB. If the
system refuses, nothing changes, and that does no harm.
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
"""Bytes of a huge page on the processors on which this was measured."""
MUCH: Final = 32 << 20
"""Bytes by which the process must grow before the next move; moving less gains nothing."""
INTERVAL: Final = 5.0
"""Seconds between checks of the process's growth."""
HUGE_PAGES, COLLAPSE = 14, 25
"""Advice values for `madvise`: use huge pages from now on; and move existing memory at once (Linux 6.1 and later)."""
ANONYMOUS: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *(?:\[heap\])?$", re.MULTILINE)
MEMORY: Final = Path("/proc/self/statm")


async def keep_in_huge_pages() -> None:
    """Move the process's memory to huge pages whenever it has grown, until cancelled. Return if the system has none."""
    if sys.platform != "linux" or not MEMORY.exists():
        return
    seen = resident()
    while True:
        await trio.sleep(INTERVAL)
        if (now := resident()) > seen + MUCH:
            seen = now
            await trio.to_thread.run_sync(advise)


def resident() -> int:
    """Return the size of this process's memory in bytes."""
    return int(MEMORY.read_text().split()[1]) * mmap.PAGESIZE


def advise() -> None:
    """Request huge pages for all memory not backed by a file, and move the used part there, region by region."""
    madvise = ctypes.CDLL(None).madvise  # Other threads run during this call.
    for start, end in _whole(Path("/proc/self/maps").read_text()):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), HUGE_PAGES)
        for piece in range(start, end, SIZE):
            madvise(ctypes.c_void_p(piece), ctypes.c_size_t(SIZE), COLLAPSE)


def _whole(maps: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of whole huge pages in this process's anonymous memory."""
    for found in ANONYMOUS.finditer(maps):
        start, end = -(-int(found[1], 16) // SIZE) * SIZE, int(found[2], 16) // SIZE * SIZE
        if start < end:
            yield start, end


def collect_rarely() -> None:
    """Exempt existing objects from garbage collection, and collect rarely. With many streams, collection took a sixth
    of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
