"""A cache of replays with all their positions, for pages that step through them."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from threading import Lock
from typing import Final

from arena.analysis.verdict import Proofs, prove, verified
from arena.queries.source import LARGEST_MATCH, DataSource
from arena.replay.read import read
from arena.replay.render.ways import Ways, pace
from arena.replay.replay import Replay, ReplayError
from arena.replay.steps import Course
from arena.replay.verify import ReplayVerdict
from arena.store.base.errors import Refused, StoreError
from arena.store.base.rows import MatchRow, MatchState
from arena.web.caches import LruCache
from arena.web.reading.reader import Missing, NotShown, Removed

KEPT: Final = 16
"""Number of cached replays."""
DRAWN: Final = 48
"""Number of drawn rounds cached per replay. A round takes some 20 kB."""
COMPRESSION: Final = 6


class ReadyReplay:
    """A replay with all its positions, the transitions between them, and the duration of each step."""

    def __init__(self, replay: Replay) -> None:
        self.course = course = Course(replay)
        self.ways = Ways(course)
        self._drawn: LruCache[Hashable, bytes] = LruCache(DRAWN)
        self._lock = Lock()
        self.step_of = {each.made.decision: place for place, each in enumerate(course.steps, 1) if each.made}
        """The step to which each decision led, by the decision's number."""

    @cached_property
    def verdict(self) -> ReplayVerdict:
        """The result of checking that the replay is consistent."""
        return verified(self.course.replay)

    def proofs(self, source: DataSource) -> tuple[Proofs, str]:
        """Compare the replay with the log of results. Without a log, also return the reason for its absence."""
        try:
            return prove(self.course.replay, None, source), ""
        except Refused as error:  # The directory has no log.
            return prove(self.course.replay, None, None), str(error)

    @cached_property
    def pace(self) -> Sequence[int]:
        """The number of milliseconds for which each step is shown."""
        return pace(self.course)

    def drawn(self, key: Hashable, draw: Callable[[], bytes]) -> bytes:
        """Return a drawn part of the replay, compressed with gzip. It is drawn once for all readers."""
        with self._lock:
            if key in self._drawn:
                return self._drawn[key]
        made = gzip.compress(draw(), COMPRESSION, mtime=0)
        with self._lock:
            self._drawn[key] = made
        return made


class ReadyReplays:
    """A cache of the replays that were viewed last. Thread-safe."""

    def __init__(self) -> None:
        self._kept: LruCache[int, ReadyReplay] = LruCache(KEPT)
        self._lock = Lock()

    def ready(self, source: DataSource, number: int) -> ReadyReplay:
        """Return a finished match's replay.

        Raises:
            Missing: there is no such match.
            Removed: the replay was pruned.
            NotShown: this version cannot read the replay.
        """
        with self._lock:
            if number in self._kept:
                return self._kept[number]
        made = ReadyReplay(_read(source, number))
        with self._lock:
            self._kept[number] = made
        return made


def match_row(source: DataSource, number: int) -> MatchRow:
    """Return a match.

    Raises:
        Missing: there is no such match.
    """
    rows = source.matches(limit=1, before=number + 1) if number < LARGEST_MATCH else ()
    if not rows or rows[0].match_id != number:
        raise Missing(f"there is no match {number}")
    return rows[0]


def replay_file(source: DataSource, number: int) -> bytes:
    """Return the replay file of a finished match.

    Raises:
        Missing: there is no such match.
        Removed: the replay was pruned.
        NotShown: the replay is damaged.
    """
    try:
        return source.replay(number)
    except StoreError as error:
        raise NotShown(str(error)) from error
    except Refused as error:
        row = match_row(source, number)
        if row.pruned:
            raise Removed(f"the replay of match {number} was removed to save room; its result stays") from error
        if row.state is MatchState.PLAYING:
            raise Missing(f"match {number} is still being played; its replay is there when it is over") from error
        if row.state is MatchState.INTERRUPTED:
            raise Missing(f"match {number} was interrupted and has no replay: {row.reason}") from error
        raise


def _read(source: DataSource, number: int) -> Replay:
    try:
        found = read(replay_file(source, number), f"match {number}")
    except ReplayError as error:
        raise NotShown(f"the replay cannot be shown here, only downloaded: {error}") from error
    if found.header.match_id != number:
        raise NotShown(f"the replay stored of match {number} is one of match {found.header.match_id}")
    return found
