"""The helper's end of the socket to its parent. A helper ends when its parent does."""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, Final

from arena.processes.frames import Frames, packed

PIECE: Final = 1 << 16
"""The most bytes read at once: beyond 128 KiB every read would have its memory from the kernel, and give it back."""
GRACE: Final = 1.0
"""Seconds that a helper may go on after its parent has ended, before it exits."""


class Parent:
    """The helper's end of a blocking socket; the parent's end is `Channel`. ConnectionError if the parent has ended."""

    def __init__(self, line: socket.socket) -> None:
        self.line: Final = line
        self._frames: Final = Frames()

    def receive(self) -> list[Any]:
        """Wait for and return the next messages; an empty list if the parent has ended or sends no more."""
        while piece := self.line.recv(PIECE):
            if messages := self._frames.take(piece):
                return messages
        return []

    def waiting(self) -> bool:
        """Return whether `receive` would return at once, with messages or at the end."""
        return bool(select.select((self.line,), (), (), 0)[0])

    def send(self, messages: Iterable[object]) -> None:
        """Send messages together; block until the socket has accepted them."""
        self.line.sendall(b"".join(map(packed, messages)))


@contextmanager
def connected() -> Iterator[Parent]:
    """Connect to the parent of a process that `helper.helper` started, and tell it that this process is ready.

    When the parent has ended, this process exits within `GRACE` seconds, whatever it is doing; sending to the parent
    then leaves the block.
    """
    with socket.socket(fileno=0) as line, suppress(ConnectionError):
        when_closed(line.fileno(), _end)
        parent = Parent(line)
        try:
            parent.send([None])
        except ConnectionError:
            sys.exit()  # the parent ended while this process started
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
