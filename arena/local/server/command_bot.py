"""A bot that is a command: its settings, start, supervision and end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from arena.local.commands.spec import is_command, words_of
from arena.local.errors import CommandFailed
from arena.local.sandbox.sandbox import run_command
from arena.processes import launch

if TYPE_CHECKING:
    from arena.local.commands.command import RunningCommand
    from arena.local.sandbox.sandbox import Sandbox
    from arena.server.sessions.player import BotPlayer

SOCKET: Final = "arena.sock"
LAST_LINES: Final = 20
"""Number of lines from the end of a bot's log that its error message shows."""


class CommandPlace(NamedTuple):
    """The settings with which commands run."""

    logs: Path | None = None
    """The folder for the bots' output. If it is None, the output is stored only if a bot fails."""
    hello_limit: float = 60.0
    """Maximum number of seconds until a bot connects."""
    decision_limit: float = 60.0
    """Maximum number of seconds for a decision: enough for a slow bot, but not for ever if it hangs."""
    sandbox: Sandbox | None = None
    """The sandbox of the commands, or None."""


class CommandFolder(NamedTuple):
    """A folder that only this user can read, with the socket and a folder for the logs."""

    path: Path
    logs: Path

    @property
    def socket(self) -> Path:
        """The socket of the private server."""
        return self.path / SOCKET

    @property
    def address(self) -> str:
        """The address of the private server."""
        return f"unix:{self.socket}"

    def log(self, name: str) -> Path:
        """The file for a bot's output."""
        return self.logs / f"{name}.log"


@contextmanager
def opened_folder(place: CommandPlace) -> Iterator[CommandFolder]:
    """Create the folder for the block. The logs are preserved if the user named their folder, or if the block fails."""
    with tempfile.TemporaryDirectory(prefix="arena-") as made:
        if place.logs is not None:
            place.logs.mkdir(parents=True, exist_ok=True)
            yield CommandFolder(Path(made), place.logs)
            return
        logs = Path(tempfile.mkdtemp(prefix="arena-logs-"))
        yield CommandFolder(Path(made), logs)
        shutil.rmtree(logs)


def told(address: str, token: str, boxed: bool = False) -> Mapping[str, str]:
    """Return a bot's environment: address, token and, unless `boxed`, this process's environment.

    A local match has no ladders and no events, so `ARENA_LADDERS` and `ARENA_EVENTS` are empty or absent.
    """
    own = {} if boxed else {**launch.environment(), "ARENA_LADDERS": "", "ARENA_EVENTS": ""}
    return {**own, "ARENA_SERVER": address, "ARENA_TOKEN": token}


def started_for(spec: str, game: str, capacity: int) -> tuple[str, ...]:
    """Return the command line that starts a bot other than a house bot. `capacity` applies to Python bots only."""
    if is_command(spec):
        return words_of(spec)
    return tuple(launch.command("arena.local.server.bot_program", [spec, game, str(capacity)]))


@dataclass(eq=False, slots=True)
class CommandBot:
    """A bot that is a command."""

    place: int
    """Number of the bot in the match."""
    player: BotPlayer
    spec: str
    words: Sequence[str]
    told: Mapping[str, str]
    """The command's environment."""
    folder: Path
    """The folder of the server's socket."""
    log: Path
    sandbox: Sandbox | None
    _command: RunningCommand | None = None

    def start(self) -> None:
        """Start the command. Raises: CommandNotStarted, SandboxRefused."""
        self._command = run_command(self.words, self.told, self.log, self.folder, self.sandbox)

    async def watch(self) -> None:
        """Wait until the command ends. Then raise CommandFailed."""
        assert self._command is not None, "it was started"
        await trio.lowlevel.wait_readable(self._command.fileno())
        self.raise_if_ended()

    def raise_if_ended(self, seconds: float = 0.0) -> None:
        """Raise CommandFailed if the command ends within the given number of seconds."""
        assert self._command is not None, "it was started"
        if (end := self._command.ended(seconds)) is not None:
            raise CommandFailed(self.spec, str(end), self.log)

    def failed(self, why: str) -> CommandFailed:
        """Return the error about the bot, with the last lines of its output."""
        lines = self.log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        text = "\n".join([f"{why}; its last lines:", *lines]) if lines else f"{why}, and has printed nothing"
        return CommandFailed(self.spec, text, self.log)

    def ask_to_end(self) -> None:
        """Ask the command to end, if it is running."""
        if self._command is not None:
            self._command.ask_to_end()

    def end(self) -> None:
        """End the command, and wait until none of its processes is left."""
        if self._command is not None:
            self._command.end()


def end_all(bots: Sequence[CommandBot]) -> None:
    """End all bots concurrently. Wait until none of their processes is left."""
    for bot in bots:
        bot.ask_to_end()
    for bot in bots:
        bot.end()
