"""A command in a separate process: its environment, the file for its output, and its end with all child processes.

A supervisor process (`keeper`) ensures that no process is left even if this process is killed.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.local.commands import keeper
from arena.local.errors import CommandNotStarted
from arena.processes.launch import OWN_GROUP

START: Final = 60.0
"""Maximum number of seconds until a command's program is running."""


class Fence(NamedTuple):
    """The limits of a sandbox that are not part of its command line."""

    calls: bytes
    """System call filter, or empty for none. `keeper.FILTER` is its placeholder in the command line."""
    memory: int
    """Maximum memory of all the sandbox's processes together, in bytes. Beyond it, the sandbox is killed."""
    files: int
    """Maximum number of files in the sandbox's own file systems. Beyond it, the sandbox is killed."""


class CommandEnd(NamedTuple):
    """The end of a command."""

    status: int
    """Exit status. For a command killed by a signal, it is the negated signal number."""
    last: tuple[str, ...]
    """The last lines of the command's output."""
    why: str = ""
    """The limit that the command was killed for exceeding, or an empty string."""
    printed: int = 0
    """Number of bytes of the command's whole output."""

    @property
    def how(self) -> str:
        """A description of the end without the output."""
        killed = f"was killed by signal {-self.status}"
        return self.why or (killed if self.status < 0 else f"ended with exit status {self.status}")

    def __str__(self) -> str:
        how = self.how
        return "\n".join([f"{how}; its last lines:", *self.last] if self.last else [f"{how}, and printed nothing"])


class RunningCommand:
    """A started command with an empty standard input. Its output goes to a file. For long output, the file contains
    only the beginning and the end.

    `fileno` is readable when the command has ended.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        folder: Path | None = None,
        fence: Fence | None = None,
    ):
        """Start the command in a folder, by default this process's, with exactly the given environment.

        `fence` are the limits of a sandboxed command (see `keeper`).

        Raises:
            CommandNotStarted: the command cannot be started.
        """
        self.words = tuple(words)
        self.log = log
        self._end: CommandEnd | None = None
        self._said = b""
        try:
            log.touch(mode=0o600)
            self._keeper = subprocess.Popen(  # noqa: S603 - it is our own
                [sys.executable, "-I", "-S", keeper.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={},
                cwd=folder,
                process_group=OWN_GROUP,
                bufsize=0,
            )
        except OSError as error:
            raise CommandNotStarted(shlex.join(words), str(error)) from error
        wanted = {
            "words": [*words],
            "environment": dict(environment),
            "log": str(log.resolve()),
            "calls": None if fence is None else fence.calls.hex(),
            "memory": None if fence is None else fence.memory,
            "files": None if fence is None else fence.files,
        }
        assert self._keeper.stdin is not None, "it is a pipe"
        with suppress(OSError):  # the supervisor may already be dead
            self._keeper.stdin.write(json.dumps(wanted).encode() + b"\n")
        said = self._next(START)
        if said is None or "started" not in said:
            self.end()
            why = "it was not running in time" if said is None else said.get("not started", "its keeper failed")
            raise CommandNotStarted(shlex.join(words), why)
        self.pid: Final[int] = said["started"]
        """The command's process id, which is also its process group."""

    def fileno(self) -> int:
        """Return a file descriptor that is readable when the command has ended."""
        assert self._keeper.stdout is not None, "it is a pipe"
        return self._keeper.stdout.fileno()

    def ended(self, seconds: float = 0.0) -> CommandEnd | None:
        """Wait at most `seconds` seconds for the command to end. Return None if it is still running."""
        if self._end is None and (said := self._next(seconds)) is not None:
            last = tuple(said.get("last", ()))
            self._end = CommandEnd(said.get("status", -9), last, said.get("why", ""), said.get("printed", 0))
        return self._end

    def tell_to_end(self) -> None:
        """Send SIGTERM to the command's group through the supervisor, with no time limit for its end."""
        self._tell(keeper.TELL)

    def ask_to_end(self) -> None:
        """Send SIGTERM to the command's group through the supervisor, and later SIGKILL to all its processes."""
        self._tell(keeper.END)

    def end(self, at_once: bool = False) -> CommandEnd | None:
        """Ask the command to end, or kill it if `at_once`.

        Wait until none of its processes is left, and return how it ended.
        """
        self._tell(keeper.KILL if at_once else keeper.END)
        with suppress(OSError):
            if self._keeper.stdin is not None:
                self._keeper.stdin.close()
        end = self.ended(keeper.GRACE + keeper.LAST_WAIT + START)
        self._keeper.wait()
        if self._keeper.stdout is not None:
            self._keeper.stdout.close()
        return end

    def _tell(self, what: bytes) -> None:
        assert self._keeper.stdin is not None, "it is a pipe"
        with suppress(OSError, ValueError):  # the command may already have ended
            self._keeper.stdin.write(what)

    def _next(self, seconds: float) -> dict[str, Any] | None:
        """Return the supervisor's next message, None after a timeout, or {} if there will be no more."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        while b"\n" not in self._said:
            if not poll.poll(seconds * 1000):
                return None
            if not (content := os.read(self.fileno(), 1 << 16)):
                return {}
            self._said += content
        line, _, self._said = self._said.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found
