"""Child programs of a verb. Each writes a log and has no access to the terminal or to Ctrl-C. All end with the verb."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from arena.processes.launch import OWN_GROUP, command, environment

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE: Final = 15.0
"""Maximum number of seconds from SIGINT until a program is killed."""
TICK: Final = 0.05
"""Number of seconds between two checks of whether a program has ended."""
TAIL: Final = 12
"""Number of lines from the end of a log that an error shows."""


class Signals:
    """A counter of the stop signals received so far. Its methods wait for the next signal."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self.count = 0

    def wait(self, seconds: float, readable: int | None = None) -> bool:
        """Wait for a signal, or until the file descriptor `readable` is readable. Return False if `seconds` pass
        first.
        """
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


class ChildFailed(Exception):  # noqa: N818 - the name says what is the matter
    """Error of a child program that ended unexpectedly or did not start. The message contains the end of its log."""


class Child:
    """A running Python module."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path, *, piped: bool = False) -> None:
        """Start the module. Its output goes to the file `log`. With `piped`, `lines` returns it instead."""
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own modules
                command("arena.processes.supervised", arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if piped else output,
                stderr=output,
                # Bots end after their server, so they have no matches to finish.
                env={**environment(), "ARENA_DRAIN": "0"},
                process_group=OWN_GROUP,
            )

    def check(self) -> None:
        """Raise ChildFailed if the program has ended."""
        status = self.process.poll()
        if status is not None:
            lines = self.log.read_text(errors="replace").splitlines()[-TAIL:]
            told = "\n".join(f"  {line}" for line in lines) or "  (it said nothing)"
            raise ChildFailed(f"the {self.name} ended with status {status}; the end of {self.log}:\n{told}")

    def lines(self, signals: Signals, seconds: float, number: int) -> list[str] | None:
        """Return the first `number` lines of the program's output, or None if a signal comes first.

        Raises:
            ChildFailed: the lines did not come in time.
        """
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        end = time.monotonic() + seconds
        text = b""
        while text.count(b"\n") < number:
            if time.monotonic() > end:
                raise ChildFailed(f"the {self.name} did not start within {seconds:.0f} s; its log is {self.log}")
            if not signals.wait(end - time.monotonic(), readable=pipe):
                continue
            if signals.count:
                return None
            piece = os.read(pipe, 4096)
            if not piece:
                self.process.wait()
                self.check()
            text += piece
        return text.decode().splitlines()


class Children:
    """Running child programs. If another signal arrives while they are being stopped, they are killed."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._children: list[Child] = []

    def start(self, name: str, arguments: Sequence[str], log: Path, *, piped: bool = False) -> Child:
        """Start `python -m` with these arguments."""
        child = Child(name, arguments, log, piped=piped)
        self._children.append(child)
        return child

    def check(self) -> None:
        """Raise ChildFailed if any program has ended."""
        for child in self._children:
            child.check()

    def stop(self) -> None:
        """Stop the program that was started first (bots end cleanly when their server does), then the others."""
        limit = self._signals.count + 1
        for children in (self._children[:1], self._children[1:]):
            for child in children:
                if child.process.poll() is None:
                    child.process.send_signal(signal.SIGINT)
            end = time.monotonic() + GRACE
            for child in children:
                self._end(child, end, limit)

    def _end(self, child: Child, end: float, limit: int) -> None:
        """Wait for a program after its SIGINT. Kill it at the time `end`, or after `limit` signals."""
        while child.process.poll() is None:
            self._signals.wait(TICK)
            if self._signals.count >= limit or time.monotonic() > end:
                child.process.kill()
                child.process.wait()
        for pipe in (child.process.stdin, child.process.stdout):
            if pipe is not None:
                pipe.close()


@contextmanager
def children(signals: Signals) -> Iterator[Children]:
    """Yield an empty group of child programs. At the end of the block, stop all programs that were started."""
    started = Children(signals)
    try:
        yield started
    finally:
        started.stop()
