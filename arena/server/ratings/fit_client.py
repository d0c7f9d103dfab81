"""Ladders from a process of their own, so that a fit never holds up a match.

The process begins with the server and reads what there is to be fitted in the background, so that the first fit takes
but a moment. One that ends is replaced.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

import structlog
import trio

from arena.ladder.ladder import Ladder
from arena.processes.calls import Calls, HelperEnded
from arena.processes.helper import HelperFailed, helper
from arena.processes.restart import keep

MODULE: Final = "arena.server.ratings.fit_process"
LIMIT: Final = 600.0
"""Seconds after which a process that does not answer is killed."""

log = structlog.get_logger(__name__)


class NotFitted(Exception):  # noqa: N818 - the name says what is the matter
    """There is no ladder now; the message says why."""


class FitClient(Protocol):
    """Who fits ladders."""

    @property
    def warm(self) -> bool:
        """Whether it has read what there is, so that a fit takes but a moment."""

    async def ready(self) -> None:
        """Wait until the next fit could begin at once, or until there is nobody to do it."""

    async def fit(self, game: str, seats: int = 0) -> Ladder:
        """Return a game's ladder after its last event; with `seats`, of tables of that size alone. NotFitted."""


@asynccontextmanager
async def open_fit_client(directory: Path, pair_quota: int = 0) -> AsyncIterator[FitClient]:
    """A fit client of the database in a data directory; its process begins and ends with the block.

    Its ladders have this quota of pairs; 0 is none.
    """
    async with trio.open_nursery() as nursery:
        fit_client = _FitProcess(directory, pair_quota)
        nursery.start_soon(keep, fit_client.run)
        yield fit_client
        nursery.cancel_scope.cancel()


class _FitProcess:
    """A fit client with one process."""

    def __init__(self, directory: Path, pair_quota: int) -> None:
        self.warm = False
        self._directory = directory
        self._pair_quota = pair_quota
        self._calls: Calls | None = None
        self._started = trio.Event()
        self._trouble = ""
        """Why there is no process, once `_started`."""
        self._turn = trio.Lock()

    async def ready(self) -> None:
        await self._started.wait()
        async with self._turn:
            pass

    async def fit(self, game: str, seats: int = 0) -> Ladder:
        await self._started.wait()
        async with self._turn:
            if self._calls is None:
                raise NotFitted(self._trouble)
            await self._calls.answered()  # or requests that nobody waits for any more would pile up
            try:
                answer: Ladder | str = await self._calls.call((game, seats))
            except HelperEnded as error:
                raise NotFitted(f"the process that fits ladders failed ({error})") from error
        if isinstance(answer, str):
            raise NotFitted(answer)
        return answer

    async def run(self) -> bool:
        """Run a process until it ends; whether it ever was warm."""
        if self._started.is_set():
            self._started = trio.Event()
        became_warm = False
        try:
            async with helper(MODULE, str(self._directory), str(self._pair_quota)) as process:
                calls = Calls(process.channel, LIMIT)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._warm_up, calls)
                    wrong = await calls.run()
                    nursery.cancel_scope.cancel()
                if wrong:
                    process.kill()
            log.error("the process that fits ladders ended", process=process.pid, status=process.status, wrong=wrong)
            self._trouble = "the process that fits ladders failed"
        except HelperFailed as error:
            log.error("the process that fits ladders cannot be started", error=str(error))
            self._trouble = f"the process that fits ladders failed ({error})"
        finally:
            became_warm, self.warm, self._calls = self.warm, False, None
            if became_warm:
                self._started = trio.Event()  # the next one follows at once
            else:
                self._started.set()
        return became_warm

    async def _warm_up(self, calls: Calls) -> None:
        with suppress(HelperEnded):  # `run` tells
            async with self._turn:  # before any fit
                self._calls = calls
                self._started.set()
                await calls.call(None)
                self.warm = True
