"""Analyses of matches. Each is computed once, one at a time, in a separate process, and cached."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock, Thread, Timer
from typing import Any, Final

from arena.processes.launch import BlockingHelper
from arena.web.caches import LruCache
from trio_grpc.limits.connection_limits import OpenByOrigin, Origin, TooManyOpen

MOST: Final = 8
MOST_OF_ADDRESS: Final = 2
"""Maximum numbers of waiting and running analyses: in total, and per remote address."""
KEPT: Final = 256
"""Number of analyses in memory. Costly choices are stored in the same folder as by `arena why --game`."""
LIMIT: Final = 1800.0
"""Number of seconds after which an analysis is aborted."""


class TooManyReviews(Exception):  # noqa: N818 - the name says what is the matter
    """Too many analyses are waiting, in total or for one address."""


@dataclass(frozen=True, slots=True)
class Review:
    """An analysis with the results so far."""

    found: Mapping[str, Any] | None = None
    """The output of `arena why --game --json`, or None at first. `costly` is None for a seat not yet examined."""
    over: bool = False
    failed: str = ""
    """The reason for the failure; empty if the analysis has not failed."""


class Reviews:
    """The requested analyses. Thread-safe."""

    def __init__(self) -> None:
        self._kept: LruCache[int, Review] = LruCache(KEPT)
        self._waiting: deque[tuple[int, bytes, Origin]] = deque()
        self._asked = OpenByOrigin(MOST, MOST_OF_ADDRESS)
        """Number of unfinished analyses, by the address that requested them."""
        self._working = False
        self._lock = Lock()

    def of(self, number: int) -> Review | None:
        """Return the analysis of a match with its results so far, or None if it was never requested."""
        with self._lock:
            return self._kept.get(number, None)

    def ask(self, number: int, replay: bytes, origin: Origin) -> None:
        """Start the analysis of a match. Do nothing if an analysis exists and has not failed.

        Raises:
            TooManyReviews: too many analyses are waiting.
        """
        with self._lock:
            known = self._kept.get(number, None)
            if known is not None and not known.failed:
                return
            try:
                self._asked.add(origin)
            except TooManyOpen as full:
                whose = "" if full.origin is None else " of your address"
                raise TooManyReviews(f"{full.count} analyses{whose} wait already; come back in some minutes") from full
            self._kept[number] = Review()
            self._waiting.append((number, replay, origin))
            if not self._working:
                self._working = True
                Thread(target=self._work, name="reviews", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._working = False
                    return
                number, replay, origin = self._waiting.popleft()
            try:
                failed = self._analyse(number, replay)
            except OSError as error:
                failed = f"its process cannot be used: {error}"
            with self._lock:
                self._asked.remove(origin)
                self._kept[number] = replace(self._kept.get(number, Review()), over=True, failed=failed)

    def _analyse(self, number: int, replay: bytes) -> str:
        """Run the process. Return the reason if it fails, otherwise an empty string."""
        with BlockingHelper("arena.web.reading.review_process") as helper:
            limit = Timer(LIMIT, helper.process.kill)
            limit.daemon = True
            limit.start()
            try:
                helper.receive()  # The process is ready.
                helper.send([replay])
                while found := helper.receive():
                    if isinstance(found[-1], str):
                        return found[-1]
                    with self._lock:
                        self._kept[number] = Review(found[-1])
                status = helper.process.wait()
            finally:
                limit.cancel()
        return f"its process ended ({status})" if status else ""
