"""Waiting for signals instead of being interrupted by exceptions, so that a verb can end its work in order."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """A counter of the stop signals received so far, with methods that wait for the next one."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self.count = 0

    def wait(self, seconds: float, readable: int | None = None) -> bool:
        """Wait for a signal, or for the descriptor `readable` to be readable. Return False if `seconds` pass first."""
        watched = [self._pipe] if readable is None else [self._pipe, readable]
        ready, _, _ = select.select(watched, [], [], max(0.0, seconds))
        if self._pipe in ready:
            self.count += len(os.read(self._pipe, 64))
        return bool(ready)

    def sleep(self, seconds: float) -> None:
        """Wait for the given number of seconds, or until the first signal."""
        end = time.monotonic() + seconds
        while not self.count and self.wait(end - time.monotonic()):
            pass


@contextmanager
def caught_signals() -> Iterator[Signals]:
    """Count SIGINT, SIGTERM and SIGHUP in this block instead of handling them."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = {number: signal.signal(number, lambda *_: None) for number in STOPPING}
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield Signals(reader)
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)
