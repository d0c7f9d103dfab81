"""The program of a bot under check: a command in a separate process, which the check can end at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from arena.local.sandbox.sandbox import run_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from arena.local.commands.command import CommandEnd, RunningCommand
    from arena.local.sandbox.sandbox import Sandbox

LINES: Final = 12
"""Number of lines at the end of the program's output that are shown."""
WIDTH: Final = 400
"""Maximum number of characters of a line that are shown."""


class Program:
    """A running bot, which gets no input."""

    def __init__(self, command: RunningCommand) -> None:
        self._command = command

    @classmethod
    async def start(
        cls, words: Sequence[str], environment: Mapping[str, str], log: Path, shared: Path, sandbox: Sandbox | None
    ) -> Program:
        """Start a command with the given environment, in a box if there is a sandbox (see `run_command`)."""
        log.unlink(missing_ok=True)
        return cls(await trio.to_thread.run_sync(run_command, words, environment, log, shared, sandbox))

    @property
    def ended(self) -> str:
        """A description of how the program ended; empty while it runs."""
        end = self._command.ended()
        return "" if end is None else end.how

    def tell_to_end(self) -> None:
        """Send SIGTERM, without a limit for the time until it ends."""
        self._command.tell_to_end()

    async def end(self) -> CommandEnd:
        """End the program and its child processes at once."""
        with trio.CancelScope(shield=True):
            end = await trio.to_thread.run_sync(self._command.end, True)
        assert end is not None, "who is killed has ended"
        return end


def shown(end: CommandEnd) -> tuple[str, ...]:
    """Return the last lines of a program's output, in a printable form."""
    return tuple(_printable(line) for line in end.last[-LINES:])


def _printable(line: str) -> str:
    """Return a line without control characters."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line.expandtabs()[:WIDTH])
