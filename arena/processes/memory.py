"""This process's memory: collected rarely, and in huge pages where the system has them.

A processor knows by heart where some thousand pages lie. With pages of 4 KiB that is less than what a few hundred
matches keep, and every decision of another match begins with looking its pages up. So memory that the process has got
since the last look, once it is much, is asked to be kept in pages of 2 MiB. It moves; a piece of which only
a part was in use takes its 2 MiB whole. Nothing depends on it: where the system refuses, all stays as it is.
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
"""Bytes that a process has to grow by before another look: with less there is nothing to gain."""
INTERVAL: Final = 5.0
"""Seconds between two looks at how much it has grown."""
HUGE_PAGES, COLLAPSE = 14, 25
"""Advice to `madvise`: in huge pages from now on; what is there, at once (Linux 6.1 and later)."""
ANONYMOUS: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *(?:\[heap\])?$", re.MULTILINE)
MEMORY: Final = Path("/proc/self/statm")


async def keep_in_huge_pages() -> None:
    """Move the process's memory to huge pages whenever it has grown, until cancelled; return where there are none."""
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
    """Ask for huge pages for all memory that is no file's, and have what is in use moved there, piece by piece."""
    madvise = ctypes.CDLL(None).madvise  # a call of it lets other threads run
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
    """Exempt what exists from garbage collection, and collect rarely: it took a sixth of the time with many streams."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
