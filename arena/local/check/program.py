"""The bot's program: started by its command, watched, and ended whatever it does."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import trio

from arena.local.errors import CommandNotStarted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TAIL: Final = 16384
"""Bytes at the end of its output that are kept."""
LINES: Final = 12
"""Lines of them that are shown."""
WIDTH: Final = 400
"""Characters of a line that are shown."""
MUCH: Final = 1 << 20
"""Bytes of output that are more than a log."""
TOO_MUCH: Final = 64 << 20
"""Bytes of output at which the program is ended."""


class Program:
    """A running bot, in a process group of its own, with no input; what it prints is read and bounded."""

    def __init__(self, process: trio.Process) -> None:
        self.printed = 0
        """Bytes printed so far."""
        self.stopped = ""
        """Why it was ended here before its time; empty where it was not."""
        self._process = process
        self._tail = b""

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str], nursery: trio.Nursery) -> Program:
        """Start a command with these variables beside its own; CommandNotStarted."""
        try:
            process = await trio.lowlevel.open_process(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        except OSError as error:
            why = "there is no such program" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
            raise CommandNotStarted(shlex.join(command), f"{why}: {command[0]}") from error
        program = cls(process)
        nursery.start_soon(program._read)
        return program

    @property
    def status(self) -> int | None:
        """Exit status; negative for the number of a signal; None while it runs."""
        return self._process.poll()

    @property
    def ended(self) -> str:
        """How it ended, in words; empty while it runs."""
        status = self.status
        if status is None:
            return ""
        return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last of what it printed."""
        text = self._tail.decode(errors="replace")
        return tuple(_printable(line) for line in text.splitlines()[-LINES:])

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program itself."""
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def end(self) -> None:
        """End it and what it started, at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with trio.CancelScope(shield=True):
            await self._process.wait()

    async def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None, "it was asked for"
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for chunk in pipe:
                self.printed += len(chunk)
                self._tail = (self._tail + bytes(chunk))[-TAIL:]
                if self.printed > TOO_MUCH:
                    self.stopped = f"it printed more than {TOO_MUCH >> 20} MiB and was ended"
                    await self.end()
                    break
        await pipe.aclose()


def _printable(line: str) -> str:
    """Return a line without what a terminal might obey."""
    return "".join(each if each.isprintable() else "�" for each in line.expandtabs()[:WIDTH])
