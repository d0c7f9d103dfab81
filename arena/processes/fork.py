"""A helper process forked from this one, which inherits its open files."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from arena.processes.parent import Parent


class ForkedHelper(NamedTuple):
    """A forked helper process, as its parent sees it."""

    pid: int
    line: socket.socket
    """The parent's socket, for a `Channel` once an event loop runs."""


@contextmanager
def forked(work: Callable[[Parent], None]) -> Iterator[ForkedHelper | None]:
    """Fork a helper process that runs `work`; leaving the block waits for it to end.

    Yields None if the system cannot fork.
    Enter the block while this process has only one thread and no event loop. `work` must return when the parent closes
    its socket. It may first finish what it has received, and so outlive a parent that was killed.
    """
    if not hasattr(os, "fork"):
        yield None
        return
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        ours.close()
        _run(work, theirs)
    theirs.close()
    try:
        yield ForkedHelper(pid, ours)
    finally:
        ours.close()
        os.waitpid(pid, 0)


def _run(work: Callable[[Parent], None], line: socket.socket) -> NoReturn:
    """Run `work` and exit, so that the child never returns to the parent's code."""
    status = 1
    try:
        gc.freeze()  # The garbage collector need not scan the parent's objects.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)  # The parent handles them and ends this process.
        work(Parent(line))
        status = 0
    except ConnectionError:
        status = 0  # The parent has ended, so no answer is awaited.
    except BaseException:  # noqa: BLE001 - nothing may propagate into the parent's code
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
