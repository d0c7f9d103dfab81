"""Points by round, bids and times in a bot's newest matches, read from the replays in the background.

Reading a replay takes as long as several pages, so no page waits for it. A separate process reads each replay once, and
a page shows the number read so far.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from statistics import fmean
from threading import Condition, Thread
from typing import Final, NamedTuple

from arena.processes.launch import BlockingHelper
from arena.queries.remote import NoAnswer
from arena.replay.render.show import RoundResult, bids_kept
from arena.store.base.errors import Refused, StoreError
from arena.store.base.rows import MatchRow
from arena.web.caches import LruCache
from arena.web.reading.reader import OpenSource

MOST_WAITING: Final = 200
"""Maximum number of replays in the queue. Pages request the remaining ones again later."""
KEPT: Final = 5000
IDLE: Final = 30.0
"""Seconds after which an idle process ends."""


class RoundMean(NamedTuple):
    """A bot's mean points in all rounds with the same number."""

    round: int
    """Number of the round, from 1."""
    matches: int
    points: float
    """Mean points."""


class SeatPace(NamedTuple):
    """Times of one seat in one match."""

    think: Mapping[int, int]
    """A histogram of the thinking times of the bot's own decisions (see `arena.ladder.think_times`)."""
    bank: float | None
    """The share of the seat's bank that was left, from 0 to 1; None if its bot made no decision."""
    played_on: int | None
    """Number of the round, from 1, in which a house bot first played the seat; None if no house bot did."""


class MatchRecord(NamedTuple):
    """The data of one replay for the page of a bot."""

    rounds: tuple[RoundResult, ...]
    seats: tuple[SeatPace, ...]


class BotRecord(NamedTuple):
    """The figures of a bot in the replays of its newest matches."""

    known: int
    """Number of matches whose replays have been read."""
    waiting: int
    """Number of matches whose replays have not been read yet."""
    rounds: tuple[RoundMean, ...]
    bids: int
    made: int
    """Number of fulfilled bids."""
    think: Mapping[int, int]
    """A histogram of the bot's thinking times (see `arena.ladder.think_times`)."""
    banks: tuple[float, ...]
    """The shares of the bank that were left, by match and seat."""
    played_on: Mapping[tuple[int, str], int]
    """The round from which a house bot played, by match number and name of the seat's bot, for all seats."""


class BotRecords:
    """A cache of records by match number. None marks an unreadable replay. Thread-safe."""

    def __init__(self, open_source: OpenSource) -> None:
        self._open = open_source
        self._kept: LruCache[int, MatchRecord | None] = LruCache(KEPT)
        self._waiting: deque[int] = deque()
        self._reading = False
        self._lock = Condition()

    def record(self, rows: Sequence[MatchRow], bot: str) -> BotRecord:
        """Return a bot's record in the matches that have been read. A background process reads the other matches."""
        points: dict[int, list[int]] = {}
        bids: list[bool] = []
        think: Counter[int] = Counter()
        banks: list[float] = []
        played_on: dict[tuple[int, str], int] = {}
        known = waiting = 0
        with self._lock:
            for row in rows:
                if row.match_id not in self._kept:
                    waiting += 1
                    self._ask(row.match_id)
                    continue
                found = self._kept[row.match_id]
                if found is None:
                    continue
                known += 1
                own = row.seats_of(bot)
                for number, each in enumerate(found.rounds):
                    points.setdefault(number, []).extend(each.points[seat] for seat in own)
                bids += bids_kept(found.rounds, own)
                for seat in own:
                    think.update(found.seats[seat].think)
                    banks += [share for share in [found.seats[seat].bank] if share is not None]
                played_on |= {
                    (row.match_id, seat.bot): pace.played_on
                    for seat, pace in zip(row.seats, found.seats, strict=True)
                    if pace.played_on is not None
                }
        means = (RoundMean(number + 1, len(each), fmean(each)) for number, each in sorted(points.items()))
        return BotRecord(known, waiting, tuple(means), len(bids), sum(bids), think, tuple(banks), played_on)

    def _ask(self, number: int) -> None:
        if number in self._waiting or len(self._waiting) >= MOST_WAITING:
            return
        self._waiting.append(number)
        self._lock.notify()
        if not self._reading:
            self._reading = True
            Thread(target=self._read, name="bot records", daemon=True).start()

    def _read(self) -> None:
        while self._reading:
            try:
                self._read_by_process()
            except (OSError, ValueError):  # The process ended, or cannot be started.
                with self._lock:
                    self._keep(self._waiting[0], None)
                    self._reading = bool(self._waiting)

    def _read_by_process(self) -> None:
        with BlockingHelper("arena.web.reading.record_process") as helper:
            helper.receive()  # The process is ready.
            while (number := self._next()) is not None:
                try:
                    with self._open() as source:
                        replay = source.replay(number)
                except (NoAnswer, StoreError):
                    with self._lock:
                        self._waiting.popleft()  # The next view of the page requests it again.
                    continue
                except Refused:
                    record = None
                else:
                    helper.send([replay])
                    [found] = helper.receive()
                    record = (
                        None if found is None else MatchRecord(found[0], tuple(SeatPace(*each) for each in found[1]))
                    )
                with self._lock:
                    self._keep(number, record)

    def _next(self) -> int | None:
        """Return the match to read next. If none arrives within `IDLE` seconds, stop reading and return None."""
        with self._lock:
            self._reading = bool(self._lock.wait_for(lambda: self._waiting, IDLE))
            return self._waiting[0] if self._reading else None

    def _keep(self, number: int, record: MatchRecord | None) -> None:
        self._waiting.popleft()
        self._kept[number] = record
