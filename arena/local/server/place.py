"""The place where commands run: the folder with the socket, the environment, and the logs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arena.processes import launch

if TYPE_CHECKING:
    from arena.local.sandbox.sandbox import Sandbox

SOCKET: Final = "arena.sock"


class CommandPlace(NamedTuple):
    """The conditions under which commands run."""

    logs: Path | None = None
    """The folder for the bots' output; without one it is stored only if a bot fails."""
    hello_limit: float = 60.0
    """Seconds for bots to connect."""
    decision_limit: float = 60.0
    """Seconds for a decision: enough for slow bots, but not for hung ones."""
    sandbox: Sandbox | None = None
    """The sandbox of the commands; None if they run without one."""


class CommandFolder(NamedTuple):
    """A folder for this user alone, with the socket, and one for the logs."""

    path: Path
    logs: Path

    @property
    def socket(self) -> Path:
        """The socket of the private server."""
        return self.path / SOCKET

    @property
    def address(self) -> str:
        """Address."""
        return f"unix:{self.socket}"

    def log(self, name: str) -> Path:
        """The file for a bot's output."""
        return self.logs / f"{name}.log"


@contextmanager
def opened_folder(place: CommandPlace) -> Iterator[CommandFolder]:
    """Create the folder for the block. Logs outlive it if they have a named folder, or if the block fails."""
    with tempfile.TemporaryDirectory(prefix="arena-") as made:
        if place.logs is not None:
            place.logs.mkdir(parents=True, exist_ok=True)
            yield CommandFolder(Path(made), place.logs)
            return
        logs = Path(tempfile.mkdtemp(prefix="arena-logs-"))
        yield CommandFolder(Path(made), logs)
        shutil.rmtree(logs)


def told(address: str, token: str, boxed: bool = False) -> Mapping[str, str]:
    """Return the environment of a bot: address, token and, unless boxed, this process's environment."""
    return {**({} if boxed else launch.environment()), "ARENA_SERVER": address, "ARENA_TOKEN": token}
