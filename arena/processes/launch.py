"""Running a module of this program as another process: command line, environment, priority.

`BlockingHelper` starts one for a thread that has no event loop and blocks until messages arrive.
`forked` forks a helper from this process, which inherits its open files.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from arena.processes.frames import BlockingChannel
from arena.processes.parent import Parent

OWN_GROUP: Final = 0
"""Value of `process_group`. Ctrl-C in a terminal then reaches only the parent, which ends its helpers."""


def command(module: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs a module with this interpreter, ignoring modules in the current directory
    (-P)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> Mapping[str, str]:
    """Return this process's environment, with a PYTHONPATH that finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}


def give_way(steps: int, process: int = 0) -> None:
    """Lower the priority of a process, by default this one, by a number of `nice` steps, to at most 19.

    If the process has ended or the system refuses, nothing changes, which does no harm.
    """
    with suppress(OSError):
        own = os.getpriority(os.PRIO_PROCESS, process)
        os.setpriority(os.PRIO_PROCESS, process, own + steps)


class BlockingHelper(BlockingChannel):
    """A module of this program that runs as a helper process and leads a process group.

    Use it as a context manager, or call `kill`.
    """

    def __init__(
        self, module: str, *arguments: str, files: Sequence[int] = (), stdout: int = subprocess.DEVNULL
    ) -> None:
        """Run `python -m module arguments…`, which inherits the open file descriptors `files`. Raises: OSError."""
        ours, theirs = socket.socketpair()
        super().__init__(ours)
        try:
            with theirs:
                self.process: Final = subprocess.Popen(  # noqa: S603 - our own module
                    command(module, arguments),
                    stdin=theirs.fileno(),
                    stdout=stdout,
                    env=environment(),
                    pass_fds=files,
                    process_group=OWN_GROUP,
                )
        except BaseException:
            ours.close()
            raise

    def __enter__(self) -> BlockingHelper:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def complete(self) -> None:
        """Shut down the sending direction. The helper reads everything sent so far, then the end."""
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        """Kill the process and all its children, and wait until it has ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.line.close()


class ForkedHelper(NamedTuple):
    """A forked helper process, as its parent sees it."""

    pid: int
    line: socket.socket
    """The parent's socket, for a `Channel` once an event loop is running."""


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
            signal.signal(each, signal.SIG_IGN)  # The parent handles these signals and ends this process.
        work(Parent(line))
        status = 0
    except ConnectionError:
        status = 0  # The parent has ended, so no answer is awaited.
    except BaseException:  # noqa: BLE001 - nothing may propagate into the parent's code
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
