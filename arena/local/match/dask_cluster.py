"""A Dask cluster (an existing scheduler with its workers) that plays the sets of a match.

It requires the extra `distributed`.

The scheduler stores a task until its result has been fetched, and repeats the task if its worker dies earlier. It
reports a task on which too many workers died. Results are released after they have been fetched.
"""

from __future__ import annotations

import logging
import re
import secrets
import threading
import time
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from arena.local.errors import ClusterUnusable
from arena.local.match.play_set import PlayedTask, forget_bots, is_made, play_task
from arena.local.match.sets import Subject
from arena.local.match.thinking import FIELDS, LOOK, SlowBot, SlowBots, ThinkingRecord
from arena.local.play.players import absolute

ADDRESS: Final = re.compile(r"([a-z]+://)?[^/]+:\d{1,5}")
PATIENCE: Final = 10.0
"""Maximum number of seconds to wait for an answer from the scheduler."""
SILENCE: Final = 5.0
"""Number of seconds without a finished task after which the state of the workers is checked."""
_in_turn: Final = threading.Lock()


class Cluster:
    """A connected Dask cluster with workers for one match."""

    def __init__(self, client: Any, address: str, subject: Subject) -> None:
        """`client` is a `distributed.Client`.

        Raises:
            ClusterUnusable: the cluster cannot play.
        """
        self.workers: int = len(client.nthreads())
        """Number of worker processes. Each plays one task at a time, whatever its number of threads."""
        if not self.workers:
            raise ClusterUnusable(address, f"it has no workers: start some with `dask worker {address} --nthreads 1`")
        self._client = client
        self._address = address
        self._names = ", ".join(dict.fromkeys(subject.bots))
        self._subject = replace(subject, bots=tuple(map(absolute, subject.bots)))
        """The subject with absolute paths of the bots' files. These paths must be the same on every worker."""
        self._executor: Executor = client.get_executor(pure=True)
        self._running: set[Future[PlayedTask]] = set()
        self._last_finished = time.monotonic()
        self._topic = f"arena-match-{secrets.token_hex(8)}"
        self._slow = deque[SlowBot]()
        client.subscribe_topic(self._topic, lambda event: self._slow.append(SlowBot(*event[1])))

    def submit(self, numbers: Sequence[int]) -> None:
        self._running.add(self._executor.submit(play_in_turn, self._subject, tuple(numbers), self._topic))

    def finished(self, seconds: float) -> list[PlayedTask]:
        """Return finished tasks. Wait at most `seconds` seconds for the first.

        Raises:
            ClusterUnusable: the cluster can no longer play.
        """
        from distributed import KilledWorker

        bots = self._names
        try:
            done, self._running = wait(self._running, seconds, return_when=FIRST_COMPLETED)
            if done:
                self._last_finished = time.monotonic()
            elif time.monotonic() > self._last_finished + SILENCE:
                self._last_finished = time.monotonic()
                if not self._client.nthreads():
                    raise ClusterUnusable(self._address, f"its workers are gone; perhaps one of {bots} crashed them")
            return [done.pop().result() for _ in range(len(done))]  # this also releases the futures
        except KilledWorker as error:
            why = f"a task ended its workers: one of {bots} crashed them ({error})"
            raise ClusterUnusable(self._address, why) from error
        except (CancelledError, OSError):
            why = "the scheduler is gone, with all unfinished tasks"
            raise ClusterUnusable(self._address, why) from None
        except (ImportError, AttributeError, TypeError) as error:
            why = (
                f"a worker cannot play: {error}. It needs this version of the arena, and the client where a bot uses it"
            )
            raise ClusterUnusable(self._address, why) from error

    def slow(self) -> Iterator[SlowBot]:
        while self._slow:
            yield self._slow.popleft()

    def cancel(self) -> None:
        """Cancel the tasks that no worker has begun."""
        for future in self._running:
            future.cancel()


def play_in_turn(subject: Subject, numbers: Sequence[int], topic: str) -> PlayedTask:
    """Play a task in a Dask worker with the bots' current files. A worker plays one task at a time.

    Slow bots are reported as events of `topic`.
    """
    from distributed import get_worker

    worker = get_worker()
    with _in_turn:
        if not is_made(subject):
            forget_bots()
        record = ThinkingRecord(memoryview(array("d", bytes(8 * FIELDS))))
        over = threading.Event()

        def watch() -> None:
            slow_bots = SlowBots(subject)
            while not over.wait(LOOK):
                for slow in slow_bots.due(filter(None, [record.read()]), time.perf_counter()):
                    worker.log_event(topic, tuple(slow))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            return play_task(subject, numbers, record)
        finally:
            over.set()
            thread.join()


@contextmanager
def dask_cluster(address: str, subject: Subject) -> Iterator[Cluster]:
    """Connect to a scheduler, such as "tcp://10.0.0.5:8786", to play a match.

    Raises:
        ClusterUnusable: the scheduler does not answer, or the cluster cannot play.
    """
    if not ADDRESS.fullmatch(address):
        raise ClusterUnusable(address, "an address is written tcp://HOST:PORT")
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterUnusable(address, "Dask is not installed: pip install distributed") from error
    for logger in (
        "distributed",
        "tornado.application",
        *(name for name in logging.root.manager.loggerDict if name.startswith("distributed.")),
    ):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)  # our own errors already describe the problem
    try:
        client: Any = distributed.Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        why = f"no scheduler answers there within {PATIENCE:.0f} s ({error})"
        raise ClusterUnusable(address, why) from error
    try:
        cluster = Cluster(client, address, subject)
        try:
            yield cluster
        finally:
            cluster.cancel()
    finally:
        client.close(timeout=PATIENCE)
