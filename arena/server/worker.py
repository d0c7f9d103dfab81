"""A worker process as its server sees it: started, handed work, and ended with whatever it still owed.

The work itself is `arena.house.worker`; nothing here waits for it.
"""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog
import trio

from arena.frames import Frames, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from arena.house import HouseBot
    from arena.house.question import Question
    from arena.house.selfplay import Replay, Replayed
    from arena.match.effects import Ask

LIMIT: Final = 5.0
"""Seconds after which a worker that owes answers, or has yet to say that it is there, counts as hung."""
REPLAY_LIMIT: Final = 60.0
"""The same of one that only replays deals."""
GRACE: Final = 1.0
"""Seconds in which a worker ends by itself once its line is closed."""
PIECE: Final = 1 << 16
"""The most bytes read at once."""
BUFFER: Final = 1 << 18
"""Bytes that a line holds: more than a batch has, so that handing it over never waits."""

log = structlog.get_logger(__name__)


class Thought(NamedTuple):
    """A question that a worker is to answer, and who wants to know."""

    bot: HouseBot
    match: int
    ask: Ask
    question: Question
    later: Callable[[Ask, int], None]
    failures: int = 0
    """Workers that ended while they owed the answer."""


class Errand(NamedTuple):
    """A replay of deals, and who wants to know."""

    request: Replay
    done: Callable[[Replayed], None]
    failures: int = 0


class Worker:
    """One process, with what it owes: one batch of answers and one replay at most."""

    def __init__(self, process: trio.Process, line: socket.socket) -> None:
        self.up = False
        """Whether it has said that it is there."""
        self.thoughts: Sequence[Thought] = ()
        self.errand: Errand | None = None
        self._process = process
        self._line = line
        self._frames = Frames()
        self._since = trio.current_time()  # when it was last heard, or given something to do

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def think(self, thoughts: Sequence[Thought]) -> None:
        """Hands it a batch; it owes none."""
        self.thoughts = thoughts
        self._send(packed([thought.question for thought in thoughts]))

    def run(self, errand: Errand) -> None:
        """Hands it a replay; it owes none."""
        self.errand = errand
        self._send(packed(errand.request))

    async def heard(self) -> Iterator[Sequence[int | str] | Replayed]:
        """Waits until it says something; OSError when it has ended."""
        await trio.lowlevel.wait_readable(self._line)
        piece = self._line.recv(PIECE)
        if not piece:
            raise ConnectionResetError("the worker has ended")
        self._since = trio.current_time()
        return self._frames.take(piece)

    async def watch(self) -> None:
        """Ends it when it has been silent for too long."""
        while trio.current_time() <= self._since + self._patience():
            await trio.sleep(LIMIT / 5)
        log.error("a worker is hung", worker=self.pid)
        self.kill()

    def _patience(self) -> float:
        if self.thoughts or not self.up:
            return LIMIT
        return math.inf if self.errand is None else REPLAY_LIMIT

    def kill(self) -> None:
        """Ends it now."""
        self._process.kill()

    async def retire(self) -> int | None:
        """Ends it well if possible; its exit status."""
        self._line.close()
        with trio.CancelScope(shield=True):
            with trio.move_on_after(GRACE):
                await self._process.wait()
            self.kill()
            await self._process.wait()
        return self._process.returncode

    def _send(self, frame: bytes) -> None:
        self._since = trio.current_time()
        try:
            took = self._line.send(frame)
        except OSError:
            took = 0
        if took < len(frame):  # it has ended, or left earlier things unread
            self.kill()


async def start() -> Worker:
    """A worker that runs the same code as this process; OSError if it cannot be started."""
    ours, theirs = socket.socketpair()
    with theirs:
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        ours.setblocking(False)
        try:
            process = await trio.lowlevel.open_process(
                [sys.executable, "-P", "-m", "arena.house.worker"],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
                process_group=0,  # or Ctrl-C would end it while matches still run
            )
        except BaseException:
            ours.close()
            raise
    return Worker(process, ours)
