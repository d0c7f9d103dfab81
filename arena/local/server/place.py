"""Where commands run: a folder with the socket, what bots are told by their environment, and where their logs go."""

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
    """The folder that what bots print is kept in; none: it is kept only where one of them fails."""
    hello_limit: float = 60.0
    """Seconds that bots have to connect."""
    decision_limit: float = 60.0
    """Seconds that a bot has for a decision. It is there for bots that hang, not for those that are slow."""
    sandbox: Sandbox | None = None
    """The sandbox that boxes commands; None if they run without one."""


class CommandFolder(NamedTuple):
    """A folder for this user alone, with the socket, and one for the logs."""

    path: Path
    logs: Path

    @property
    def socket(self) -> Path:
        """Where the private server listens."""
        return self.path / SOCKET

    @property
    def address(self) -> str:
        """Address."""
        return f"unix:{self.socket}"

    def log(self, name: str) -> Path:
        """The file that what a bot prints is kept in."""
        return self.logs / f"{name}.log"


@contextmanager
def opened_folder(place: CommandPlace) -> Iterator[CommandFolder]:
    """Make the folder for the block. Logs outlive it where a place for them was named, or where the block fails."""
    with tempfile.TemporaryDirectory(prefix="arena-") as made:
        if place.logs is not None:
            place.logs.mkdir(parents=True, exist_ok=True)
            yield CommandFolder(Path(made), place.logs)
            return
        logs = Path(tempfile.mkdtemp(prefix="arena-logs-"))
        yield CommandFolder(Path(made), logs)
        shutil.rmtree(logs)


def told(address: str, token: str, boxed: bool = False) -> Mapping[str, str]:
    """Return the environment of a bot: where it is to connect with which token, and unless boxed this process's."""
    return {**({} if boxed else launch.environment()), "ARENA_SERVER": address, "ARENA_TOKEN": token}
