"""Ladders from a process of their own, so that a fit never holds up a match. A process that dies is started anew."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol

import trio

from arena.ladder.events import Node
from arena.ladder.fortune import Fortune
from arena.ladder.ladder import Figure, Ladder, Line

LIMIT: Final = 600.0
"""Seconds after which a process that does not answer is killed."""
PIECE: Final = 1 << 16
"""Bytes read at once."""


class NotFitted(Exception):  # noqa: N818 - the name says what is the matter
    """There is no ladder now; the message says why."""


class Fitter(Protocol):
    """Who fits ladders."""

    @property
    def warm(self) -> bool:
        """Whether it has read what there is, so that a fit takes but a moment."""

    async def fit(self, game: str, seats: int = 0) -> Ladder:
        """The ladder of a game after its last event; with `seats` of tables of that size alone. NotFitted."""


@asynccontextmanager
async def open_fitter(directory: Path) -> AsyncIterator[Fitter]:
    """A fitter of the database in a data directory; its process begins with the first fit and ends with the block."""
    fitter = _Worker(directory)
    try:
        yield fitter
    finally:
        await fitter.end()


class _Worker:
    """A fitter with at most one process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: trio.Process | None = None
        self._turn = trio.Lock()

    @property
    def warm(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def fit(self, game: str, seats: int = 0) -> Ladder:
        async with self._turn:
            try:
                with trio.fail_after(LIMIT):
                    answer = await self._answer(json.dumps({"game": game, "seats": seats}))
            except (trio.TooSlowError, trio.BrokenResourceError, OSError) as error:
                await self.end()
                raise NotFitted(f"the process that fits ladders failed ({error or type(error).__name__})") from error
            except BaseException:
                await self.end()  # what it has yet to answer nobody asked for any more
                raise
        if "error" in answer:
            raise NotFitted(answer["error"])
        return Ladder(
            tuple(Line(Node(node), *others) for node, *others in answer["lines"]),
            tuple(Figure(Node(node), *others) for node, *others in answer["figures"]),
            answer["through"],
            answer["digest"],
            tuple(Fortune(Node(node), *others) for node, *others in answer["fortunes"]),
            answer["replayed"],
        )

    async def end(self) -> None:
        """Ends the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        with suppress(trio.BrokenResourceError):
                            await pipe.aclose()

    async def _answer(self, request: str) -> Any:
        if self._process is None:
            command = [sys.executable, "-P", "-m", "arena.server.fitting", str(self._directory)]
            self._process = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        assert pipe_in is not None, "it was opened with both"
        assert pipe_out is not None, "it was opened with both"
        await pipe_in.send_all(request.encode() + b"\n")
        line = bytearray()
        while not line.endswith(b"\n"):
            piece = await pipe_out.receive_some(PIECE)
            if not piece:
                raise trio.BrokenResourceError("it died")
            line += piece
        return json.loads(line)
