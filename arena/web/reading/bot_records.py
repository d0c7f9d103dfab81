"""What replays say of a bot's newest matches, read beside the pages: points by round and bids.

Reading a replay takes as long as several pages, so no page waits for it: one thread reads them, each once, and a page
says how many of them it knows.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from statistics import fmean
from threading import Lock, Thread
from typing import Final, NamedTuple

from arena.client.remote import NoAnswer
from arena.replay.read import read
from arena.replay.render.show import ShowError, renderer_of
from arena.replay.replay import ReplayError
from arena.replay.steps import Course
from arena.store.errors import Refused, StoreError
from arena.store.rows import MatchRow
from arena.web.reading.reader import OpenSource

MOST_WAITING: Final = 200
"""Replays that wait to be read; the pages ask again for the others."""
KEPT: Final = 5000


class RoundRecord(NamedTuple):
    """One round of a match, by seat."""

    points: tuple[int, ...]
    kept: tuple[bool, ...]
    """Whether each seat took the tricks that it had bid; empty in a game without bids."""


class RoundMean(NamedTuple):
    """A bot in rounds of one number."""

    round: int
    """From 1."""
    matches: int
    points: float
    """The mean."""


class BidRecord(NamedTuple):
    """What the replays of a bot's newest matches say."""

    known: int
    """Matches whose replays were read."""
    waiting: int
    """Matches whose replays are yet to be read."""
    rounds: tuple[RoundMean, ...]
    bids: int
    made: int
    """Bids that it kept."""


class BotRecords:
    """Rounds of matches by their number; None for one whose replay cannot be read. For several threads."""

    def __init__(self, open_source: OpenSource) -> None:
        self._open = open_source
        self._kept: OrderedDict[int, tuple[RoundRecord, ...] | None] = OrderedDict()
        self._waiting: deque[int] = deque()
        self._reading = False
        self._lock = Lock()

    def record(self, rows: Sequence[MatchRow], bot: str) -> BidRecord:
        """Return what is known of a bot in these matches; the other replays are read meanwhile."""
        points: dict[int, list[int]] = {}
        bids: list[bool] = []
        known = waiting = 0
        with self._lock:
            for row in rows:
                if row.match_id not in self._kept:
                    waiting += 1
                    self._ask(row.match_id)
                    continue
                rounds = self._kept[row.match_id]
                known += rounds is not None
                own = [number for number, seat in enumerate(row.seats) if seat.bot == bot]
                for number, each in enumerate(rounds or ()):
                    points.setdefault(number, []).extend(each.points[seat] for seat in own)
                    bids += [each.kept[seat] for seat in own if each.kept]
        means = (RoundMean(number + 1, len(each), fmean(each)) for number, each in sorted(points.items()))
        return BidRecord(known, waiting, tuple(means), len(bids), sum(bids))

    def _ask(self, number: int) -> None:
        if number in self._waiting or len(self._waiting) >= MOST_WAITING:
            return
        self._waiting.append(number)
        if not self._reading:
            self._reading = True
            Thread(target=self._read, name="bot records", daemon=True).start()

    def _read(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._reading = False
                    return
                number = self._waiting[0]
            try:
                with self._open() as source:
                    rounds = _rounds(source.replay(number))
            except (NoAnswer, Refused, StoreError, ReplayError, ShowError):
                rounds = None
            with self._lock:
                self._waiting.popleft()
                self._kept[number] = rounds
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)


def _rounds(replay: bytes) -> tuple[RoundRecord, ...]:
    course = Course(read(replay))
    renderer = renderer_of(course.replay.header.game)
    return tuple(
        RoundRecord(tuple(renderer.worth(report)), tuple(renderer.kept(report) or ())) for report in course.reports
    )
