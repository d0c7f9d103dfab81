"""The helper's end of the socket to its parent. A helper ends when its parent does."""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final

from arena.processes.frames import BlockingChannel

GRACE: Final = 1.0
"""Seconds for which a helper may continue after its parent has ended."""


class Parent(BlockingChannel):
    """The helper's end of the socket to its parent; the parent's end is `Channel` or `BlockingHelper`."""


@contextmanager
def connected() -> Iterator[Parent]:
    """Connect this process, which `helper.helper` started, to its parent, and report that it is ready.

    When the parent has ended, this process exits within `GRACE` seconds, whatever it is doing. Sending to the parent
    then leaves the block.
    """
    with socket.socket(fileno=0) as line, suppress(ConnectionError):
        when_closed(line.fileno(), _end)
        parent = Parent(line)
        try:
            parent.send([None])
        except ConnectionError:
            sys.exit()  # The parent ended while this process started.
        yield parent


def when_closed(descriptor: int, act: Callable[[], None]) -> None:
    """Call `act` in a new thread when the other end of a pipe or socket is closed by every process."""
    poll = select.poll()
    poll.register(descriptor, select.POLLHUP)

    def watch() -> None:
        poll.poll()
        act()

    Thread(target=watch, daemon=True).start()


def _end() -> None:
    time.sleep(GRACE)
    os._exit(1)
