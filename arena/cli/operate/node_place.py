"""A node's connection to its parent process: the task that the node receives, and its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arena.processes.channel import Channel
from arena.store.nodes import NodeStart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arena.processes.parent import Parent
    from arena.server.arena import Arena


class NodeTask(NamedTuple):
    """The task of a node, sent when the node starts."""

    settings: str
    """The settings as the text of a configuration file."""
    number: int
    numbers: tuple[int, ...]
    """Numbers of all nodes of the parent."""
    public_address: str
    """The node's address for bots."""
    program: str
    shared: str
    """A digest of the settings that all nodes share."""
    lock: int
    """The descriptor of the data directory's lock."""


class NodePlace:
    """A node's connection to its parent."""

    def __init__(self, task: NodeTask, parent: Parent) -> None:
        self.start: Final = NodeStart(task.number, task.public_address, task.program, task.shared, task.numbers)
        self.lock: Final = task.lock
        """The descriptor of the data directory's lock, which the parent holds."""
        self._parent: Final = parent

    def listening(self, address: str, plays: Sequence[str], unix_socket: Path, pages: str) -> None:
        """Report that this node listens."""
        self._tell("listening", {"address": address, "plays": [*plays], "socket": unix_socket, "pages": pages})

    def draining(self, limit: float) -> None:
        """Report that a drain starts."""
        self._tell("draining", limit)

    def failed(self, why: str, *, replaced: bool = False) -> None:
        """Report why this node ends. `replaced`: true if a file of the data is gone, so no node may be restarted."""
        self._tell("replaced" if replaced else "failed", why)

    async def run(self, arena: Arena) -> None:
        """Drain when the parent requests it, until cancelled."""
        channel = Channel(self._parent.line)
        while messages := await channel.receive():
            for _, limit in messages:
                arena.begin_drain(limit)

    def _tell(self, kind: str, value: Any) -> None:
        self._parent.send([(kind, value)])
