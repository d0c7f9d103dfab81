"""Analyses of matches: each is worked out once, one at a time, by a process of its own, and kept."""

from __future__ import annotations

import json
import subprocess
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock, Thread, Timer
from typing import Any, Final

from arena.processes.launch import OWN_GROUP, command, environment
from arena.transport.connection_limits import OpenByOrigin, Origin, TooManyOpen
from arena.web.reading.record_process import LENGTH

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
        self._kept: OrderedDict[int, Review] = OrderedDict()
        self._waiting: deque[tuple[int, bytes, Origin]] = deque()
        self._asked = OpenByOrigin(MOST, MOST_OF_ADDRESS)
        """Analyses that are not over, by who asked for them."""
        self._working = False
        self._lock = Lock()

    def of(self, number: int) -> Review | None:
        """Return the analysis of a match as far as it has come; None if nobody has asked for it."""
        with self._lock:
            return self._kept.get(number)

    def ask(self, number: int, replay: bytes, origin: Origin) -> None:
        """Have a match analysed unless it is; one that failed is tried again.

        Raises:
            TooManyReviews: it cannot wait, too.
        """
        with self._lock:
            known = self._kept.get(number)
            if known is not None and not known.failed:
                return
            try:
                self._asked.add(origin)
            except TooManyOpen as full:
                whose = "" if full.origin is None else " of your address"
                raise TooManyReviews(f"{full.count} analyses{whose} wait already; come back in some minutes") from full
            self._keep(number, Review())
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
                failed = f"its process cannot be started: {error}"
            with self._lock:
                self._asked.remove(origin)
                self._keep(number, replace(self._kept.get(number, Review()), over=True, failed=failed))

    def _analyse(self, number: int, replay: bytes) -> str:
        """Run the process; return why it failed, empty if it did not."""
        words = command("arena.web.reading.review_process", ())
        pipe = subprocess.PIPE
        with subprocess.Popen(  # noqa: S603 - our own module
            words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(), process_group=OWN_GROUP
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            limit = Timer(LIMIT, process.kill)
            limit.daemon = True
            limit.start()
            try:
                process.stdin.write(len(replay).to_bytes(LENGTH, "big") + replay)
                process.stdin.flush()  # and stays open: the process ends when it is closed
                for line in process.stdout:
                    with self._lock:
                        self._keep(number, Review(json.loads(line)))
                said = process.stderr.read().decode(errors="replace").strip()
            except BrokenPipeError:
                said = "it ended at once"
            finally:
                limit.cancel()
        if process.returncode == 0:
            return ""
        return said.rpartition("\n")[2] or f"its process ended ({process.returncode})"

    def _keep(self, number: int, review: Review) -> None:
        self._kept[number] = review
        self._kept.move_to_end(number)
        if len(self._kept) > KEPT:
            oldest = next((each for each, kept in self._kept.items() if kept.over), None)
            if oldest is not None:
                del self._kept[oldest]
