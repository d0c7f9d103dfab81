"""Memory in huge pages: a process's memory is moved there, and its content stays the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from trio.testing import MockClock

from arena.processes import memory

SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")

PROGRAM = """
import hashlib
from random import Random
from arena.processes import memory

def huge():
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))

kept = [Random(1).randbytes(300 + number % 200) for number in range(200_000)]
before, digest = huge(), hashlib.sha256(b"".join(kept)).hexdigest()
size = memory.resident()
memory.advise()
assert hashlib.sha256(b"".join(kept)).hexdigest() == digest
print(huge() - before, memory.resident() - size)
"""
"""A program that stores some 100 MiB. It prints the growth of its memory in huge pages, in KiB, and its total growth in
bytes.
"""


@pytest.mark.process
@pytest.mark.skipif(not SWITCH.exists() or "[never]" in SWITCH.read_text(), reason="no huge pages here")
def test_memory_moves_to_huge_pages_and_grows_by_the_rest_of_pieces_only() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, timeout=120)
    moved, grew = map(int, ran.stdout.split())
    if not moved:
        pytest.skip("this system has no huge page to spare, or cannot move memory there")
    assert moved > 30 << 10
    assert grew < 40 << 20


async def test_a_look_follows_only_where_memory_has_grown_much(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    import trio

    sizes, looks = [100, 110, 140, 150, 172, 180], list[int]()

    def at_once(job: object) -> object:
        async def run() -> None:
            looks.append(len(sizes))

        return run()

    monkeypatch.setattr(memory, "resident", lambda: (sizes.pop(0) if len(sizes) > 1 else sizes[0]) << 20)
    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)
    monkeypatch.setattr(sys, "platform", "linux")
    with trio.move_on_after(100):
        await memory.keep_in_huge_pages()
    assert looks == [3, 1], "at 140 and after 172 MiB"


def test_only_whole_pages_of_no_file_are_asked_for() -> None:
    maps = (
        "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
        "7f0001100000-7f0001900000 rw-p 00000000 00:00 0                          [heap]\n"
        "7f0002000000-7f0002800000 rw-p 00000000 fe:00 77                         /a/file\n"
        "7f0003000000-7f0003800000 r-xp 00000000 00:00 0 \n"
        "7f0004000000-7f0004100000 rw-p 00000000 00:00 0 \n"
        "7ffc00000000-7ffc00800000 rw-p 00000000 00:00 0                          [stack]\n"
    )
    assert list(memory._whole(maps)) == [(0x7F0000000000, 0x7F0000800000), (0x7F0001200000, 0x7F0001800000)]
