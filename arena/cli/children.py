"""Programs that a verb runs beside itself: a log each, no terminal, no Ctrl-C; all end with the verb."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from arena.cli.signals import Signals

GRACE: Final = 15.0
"""Seconds a program has to end when told to."""
TICK: Final = 0.05
"""Seconds between two looks whether a program has ended."""
TAIL: Final = 12
"""Lines of a log that are shown."""


class ChildFailed(Exception):  # noqa: N818 - the name says what is the matter
    """A program ended that should run; the message has the end of its log."""


class Child:
    """A running Python module."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path, *, heard: bool = False) -> None:
        """`heard`: its output is for `line`, not for its log."""
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", "arena.cli.leashed", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if heard else output,
                stderr=output,
                process_group=0,
            )

    def check(self) -> None:
        """Raises ChildFailed once the program has ended."""
        status = self.process.poll()
        if status is not None:
            lines = self.log.read_text(errors="replace").splitlines()[-TAIL:]
            told = "\n".join(f"  {line}" for line in lines) or "  (it said nothing)"
            raise ChildFailed(f"the {self.name} ended with status {status}; the end of {self.log}:\n{told}")

    def line(self, signals: Signals, seconds: float) -> str | None:
        """The first line of its output; None when a signal came first. ChildFailed."""
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        end = time.monotonic() + seconds
        text = b""
        while not text.endswith(b"\n"):
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
        return text.decode()


class Children:
    """The programs that run; a further signal while they end kills them."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._children: list[Child] = []

    def start(self, name: str, arguments: Sequence[str], log: Path, *, heard: bool = False) -> Child:
        """Runs `python -m` with these arguments."""
        child = Child(name, arguments, log, heard=heard)
        self._children.append(child)
        return child

    def check(self) -> None:
        """Raises ChildFailed if any has ended."""
        for child in self._children:
            child.check()

    def stop(self) -> None:
        """Ends the first, which the others may need for ending well, and then the others."""
        limit = self._signals.count + 1
        for children in (self._children[:1], self._children[1:]):
            for child in children:
                if child.process.poll() is None:
                    child.process.send_signal(signal.SIGINT)
            end = time.monotonic() + GRACE
            for child in children:
                self._end(child, end, limit)

    def _end(self, child: Child, end: float, limit: int) -> None:
        """Waits for a program that was asked to end; kills it at an instant, or when somebody loses patience."""
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
    """Programs that have ended, all of them, when this is left."""
    started = Children(signals)
    try:
        yield started
    finally:
        started.stop()
