"""A node's connection to its parent process: the task that the node receives, and its reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arena.processes.channel import Channel
from arena.store.nodes import NodeStart

if TYPE_CHECKING:
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
    """The settings that all nodes share, as in `NodeStart.settings`."""
    lock: int
    """The descriptor of the data directory's lock."""
    several: bool
    """True if nodes with other data directories may use the store."""


class NodePlace:
    """A node's connection to its parent."""

    def __init__(self, task: NodeTask, parent: Parent) -> None:
        number, address, numbers = task.number, task.public_address, task.numbers
        self.start: Final = NodeStart(number, address, task.program, task.shared, numbers, task.several)
        self.lock: Final = task.lock
        """The descriptor of the data directory's lock, which the parent holds."""
        self._parent: Final = parent

    def listening(self, address: str, plays: Sequence[str]) -> None:
        """Report that this node is listening."""
        self._tell("listening", {"address": address, "plays": [*plays]})

    def draining(self, limit: float) -> None:
        """Report that a drain has started."""
        self._tell("draining", limit)

    def failed(self, why: str, *, replaced: bool = False) -> None:
        """Report why this node is ending. `replaced`: true if a data file is gone, so that no node may be restarted."""
        self._tell("replaced" if replaced else "failed", why)

    async def run(self, arena: Arena) -> None:
        """Drain when the parent requests it, until cancelled."""
        channel = Channel(self._parent.line)
        while messages := await channel.receive():
            for _, limit in messages:
                arena.begin_drain(limit)

    def _tell(self, kind: str, value: Any) -> None:
        self._parent.send([(kind, value)])
