"""Analyses of matches: each is worked out once, one at a time, by a process of its own, and kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock, Thread, Timer
from typing import Any, Final

from arena.processes.launch import BlockingHelper
from arena.transport.connection_limits import OpenByOrigin, Origin, TooManyOpen
from arena.web.caches import LruCache

MOST: Final = 8
MOST_OF_ADDRESS: Final = 2
"""Analyses that wait or are being worked out, in all and of one address other than this machine."""
KEPT: Final = 256
"""Analyses kept in memory; what costs most of them, their choices, is stored as `arena why --game` stores it."""
LIMIT: Final = 1800.0
"""Seconds after which an analysis is given up."""


class TooManyReviews(Exception):  # noqa: N818 - the name says what is the matter
    """So many analyses wait, in all or of one address, that no more are taken."""


@dataclass(frozen=True, slots=True)
class Review:
    """An analysis, as far as it has come."""

    found: Mapping[str, Any] | None = None
    """The output of `arena why --game --json`; None before anything is found. Seats not examined have `costly` None."""
    over: bool = False
    failed: str = ""
    """Why it failed; empty if it did not."""


class Reviews:
    """The analyses that were asked for. For several threads."""

    def __init__(self) -> None:
        self._kept: LruCache[int, Review] = LruCache(KEPT)
        self._waiting: deque[tuple[int, bytes, Origin]] = deque()
        self._asked = OpenByOrigin(MOST, MOST_OF_ADDRESS)
        """Analyses that are not over, by who asked for them."""
        self._working = False
        self._lock = Lock()

    def of(self, number: int) -> Review | None:
        """Return the analysis of a match as far as it has come; None if nobody has asked for it."""
        with self._lock:
            return self._kept.get(number, None)

    def ask(self, number: int, replay: bytes, origin: Origin) -> None:
        """Have a match analysed unless it is; one that failed is tried again.

        Raises:
            TooManyReviews: it cannot wait, too.
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
        """Run the process; return why it failed, empty if it did not."""
        with BlockingHelper("arena.web.reading.review_process") as helper:
            limit = Timer(LIMIT, helper.process.kill)
            limit.daemon = True
            limit.start()
            try:
                helper.receive()  # it is ready
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
