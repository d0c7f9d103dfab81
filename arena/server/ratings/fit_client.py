"""Client of the process that fits ladders, so that a fit never delays a match. To fit a ladder is to compute all
ratings from all results.

The process starts with the server. If there are results, it reads them in the background, so that the first fit is
quick. It is replaced when it ends, or when it has not answered for much longer than its last answers took. Requests for
ladders that are not published (one table size only) queue for a limited time. A fit for publication waits for at most
one such request.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

import structlog
import trio

from arena.ladder.ladder import NO_QUOTA, Ladder, Quota
from arena.processes.calls import Calls, HelperEnded
from arena.processes.helper import HelperFailed, helper, keep
from arena.scheduling.information_gain import MatchValues

Request: TypeAlias = tuple[str, int] | str | None
"""A request to the process: a ladder id and a table size for a ladder, or a ladder id alone for match values. None
makes the process read all results.
"""
MODULE: Final = "arena.server.ratings.fit_process"
LEAST_LIMIT: Final = 15.0
"""Minimum number of seconds without an answer before the process is killed. Shorter silence could be due to a busy
machine.
"""
FIRST_LIMIT: Final = 60.0
"""Number of seconds without an answer before a process that has never answered is killed."""
LONGEST_LIMIT: Final = 3600.0
USUAL_TIMES: Final = 10.0
"""The time limit for an answer is this multiple of the longest duration among the last answers."""
REMEMBERED: Final = 5
"""Number of answers whose durations are remembered."""
ASIDE: Final = 30.0
"""Maximum number of seconds for which a request for an unpublished ladder waits in the queue."""

log = structlog.get_logger(__name__)


class NotFitted(Exception):  # noqa: N818 - the name says what is the matter
    """No ladder is available now. The message gives the reason."""


@asynccontextmanager
async def open_fit_client(
    directory: Path, quota: Quota = NO_QUOTA, has_results: bool = True
) -> AsyncIterator[FitClient]:
    """Yield a fit client for the database in a data directory. Its process runs while the `with` block runs.

    `quota` limits how many matches of a pair count. Without results, the process loads little until the first request.
    """
    async with trio.open_nursery() as nursery:
        fit_client = FitClient(directory, quota, has_results)
        nursery.start_soon(keep, fit_client.run)
        yield fit_client
        nursery.cancel_scope.cancel()


class _Limit:
    """Time limit for an answer. It follows the durations of the last answers, and doubles each time it is exceeded."""

    def __init__(self) -> None:
        self._took: Final = deque[float](maxlen=REMEMBERED)
        self._silences = 0

    @property
    def seconds(self) -> float:
        usual = max(LEAST_LIMIT, USUAL_TIMES * max(self._took)) if self._took else FIRST_LIMIT
        return float(min(LONGEST_LIMIT, usual * 2**self._silences))

    def answered(self, seconds: float) -> None:
        """Record the duration of an answer."""
        self._took.append(seconds)
        self._silences = 0

    def silent(self) -> None:
        """Double the limit, because the killed process may only have needed more time."""
        self._silences += 1


class FitClient:
    """A client with one process."""

    def __init__(self, directory: Path, quota: Quota, has_results: bool) -> None:
        self.warm = False
        """True if the process has read all results, so that a fit is quick."""
        self._directory = directory
        self._quota = quota
        self._has_results = has_results
        self._calls: Calls | None = None
        self._started = trio.Event()
        self._trouble = ""
        """The reason why there is no process. Valid once `_started` is set."""
        self._turn: Final = trio.Lock()
        self._aside: Final = trio.Lock()
        """Lock held by the next request in line for an unpublished ladder."""
        self._reading: Final = _Limit()
        self._fitting: Final = _Limit()
        self._busy = ("is starting", trio.current_time())
        """The current task of the process, and the time at which that task started."""

    async def ready(self) -> None:
        """Wait until a fit could start at once, or until the process has ended."""
        await self._started.wait()
        async with self._turn:
            pass

    async def fit(self, ladder_id: str, seats: int = 0) -> Ladder:
        """Return a ladder computed from all results so far. With `seats`, use only tables of that size.

        Raises: NotFitted: With `seats`, also if the process is busy for `ASIDE` seconds.
        """
        if not seats:
            await self._started.wait()
            async with self._turn:
                return await self._fitted(ladder_id)
        with trio.move_on_after(ASIDE) as waiting:
            async with self._aside:
                await self._started.wait()
                async with self._turn:
                    waiting.deadline = math.inf
                    return await self._fitted(ladder_id, seats)
        what, since = self._busy
        busy = f"it {what}, for {trio.current_time() - since:.0f} s already"
        raise NotFitted(f"the process that fits ladders has other work ({busy}); ask again later")

    async def match_values(self, ladder_id: str) -> MatchValues[int]:
        """Return the match values of a published ladder, by bot number. Raises: NotFitted."""
        await self._started.wait()
        async with self._turn:
            values: MatchValues[int] = await self._answer(f"weighs matches of {ladder_id}", ladder_id)
        return values

    async def _fitted(self, ladder_id: str, seats: int = 0) -> Ladder:
        """Return a fitted ladder. The caller must hold `_turn`."""
        began = trio.current_time()
        ladder: Ladder = await self._answer(f"fits {ladder_id}", (ladder_id, seats))
        self._fitting.answered(trio.current_time() - began)
        return ladder

    async def _answer(self, what: str, request: Request) -> Any:
        """Send a request and return the answer. The caller must hold `_turn`. Raises: NotFitted."""
        if self._calls is None:
            raise NotFitted(self._trouble)
        await self._calls.answered()  # Without this wait, cancelled requests would pile up.
        self._calls.limit = self._fitting.seconds
        self._busy = what, trio.current_time()
        self._has_results = True  # The next process reads them at its start.
        try:
            answer = await self._calls.call(request)
        except HelperEnded as error:
            raise NotFitted(f"the process that fits ladders failed ({error})") from error
        if isinstance(answer, str):
            raise NotFitted(answer)
        return answer

    async def run(self) -> bool:
        """Run a process until it ends. Return whether the process finished reading the results."""
        if self._started.is_set():
            self._started = trio.Event()
        became_warm = False
        self._busy = ("is starting", trio.current_time())
        try:
            async with helper(MODULE, str(self._directory), *map(str, self._quota)) as process:
                calls = Calls(process.channel, self._reading.seconds)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._warm_up, calls)
                    wrong = await calls.run()
                    nursery.cancel_scope.cancel()
                if wrong:
                    process.kill()
                    (self._fitting if self.warm else self._reading).silent()
            log.error("the process that fits ladders ended", process=process.pid, status=process.status, wrong=wrong)
            self._trouble = "the process that fits ladders failed"
        except HelperFailed as error:
            log.error("the process that fits ladders cannot be started", error=str(error))
            self._trouble = f"the process that fits ladders failed ({error})"
        finally:
            became_warm, self.warm, self._calls = self.warm, False, None
            if became_warm:
                self._started = trio.Event()  # The next process starts at once.
            else:
                self._started.set()
        return became_warm

    async def _warm_up(self, calls: Calls) -> None:
        with suppress(HelperEnded):  # `run` reports this.
            async with self._turn:  # Before any fit.
                self._calls = calls
                self._started.set()
                if self._has_results:
                    self._busy = _, began = "reads all results", trio.current_time()
                    await calls.call(None)
                    self._reading.answered(trio.current_time() - began)
                self.warm = True
