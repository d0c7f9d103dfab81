"""Public state of running matches: players, finished rounds, and the end.

Nothing here is secret, because every seat has received all of a finished round. Like all output of a server, events are
published only after they are stored. All watchers get the same batches, a few per second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import trio

from arena.match.effects import Over
from arena.replay.header import Header
from arena.server.runtime.turns import Turns
from arena.store.ladder.seasons import name_of
from engine.game import RoundReport

PUSH_INTERVAL: Final = 0.25
"""Minimum number of seconds between pushes to watchers."""
MOST_UNREAD: Final = 2000
"""Number of unread events at which a watcher is dropped. A busy server produces as many in half a minute."""
RATE_PERIOD: Final = 60.0
"""Seconds during which an ended match still counts as recent."""


class LiveMatch:
    """A running match."""

    __slots__ = ("bots", "game", "kind", "ladder_id", "match_id", "rounds", "started")

    def __init__(self, header: Header) -> None:
        """Copy some fields of the header. The header itself is not stored here, because it contains the secret seed."""
        self.match_id: Final = header.match_id
        self.game: Final = header.game.name
        self.ladder_id: Final = header.ladder_id
        self.kind: Final = header.kind
        self.started: Final = header.started
        """Start of the match, in microseconds since 1970."""
        self.bots: Final = tuple(bot.name for bot in header.bots)
        self.rounds: Final[list[RoundReport]] = []
        """The finished rounds, oldest first."""


@dataclass(slots=True)
class LiveEvent:
    """An event of a match."""

    match: LiveMatch
    what: RoundReport | Over | None
    """A finished round or the match's outcome; None for the start of the match."""
    encoded: bytes = b""
    """Cache of the encoded event, which is the same for all watchers."""


@dataclass(slots=True)
class Push:
    """One batch of events for the watchers."""

    events: Sequence[LiveEvent]
    encoded: bytes = b""
    """Cache of the encoded batch for watchers of all matches."""


class LiveWatcher:
    """A watcher with the pushes that it has not read. All watchers share the same pushes."""

    def __init__(self, told: int) -> None:
        """`told`: the number of events that the watcher has already received."""
        self.dropped = False
        """True if the watcher left too many events unread. It gets no more pushes."""
        self.scope: Final = trio.CancelScope()
        """Cancelled when the watcher is dropped, so that sending to it ends."""
        self._told = told
        self._waiting: Final = deque[Push]()
        self._unread = 0
        self._wake = trio.Event()

    def take(self, push: Push, first: int) -> None:
        """Queue a push whose first event has the number `first`, or drop the watcher."""
        if first < self._told:
            push = Push(push.events[self._told - first :])
        if self.dropped or not push.events:
            return
        self._unread += len(push.events)
        if self._unread > MOST_UNREAD:
            self.dropped = True
            self._waiting.clear()
            self.scope.cancel()
            return
        self._waiting.append(push)
        self._wake.set()

    async def next(self) -> Push:
        """Wait for and return the next push."""
        while not self._waiting:
            self._wake = trio.Event()
            await self._wake.wait()
        push = self._waiting.popleft()
        self._unread -= len(push.events)
        return push


class LiveMatches:
    """All running matches of a server."""

    def __init__(self, turns: Turns) -> None:
        """`turns` calls `send` once new events are stored."""
        self._turns = turns
        self._playing: dict[int, LiveMatch] = {}
        """Running matches by number, including matches whose start is not published yet."""
        self._running: dict[int, LiveMatch] = {}
        """The running matches whose start is published, by number."""
        self._happened: list[LiveEvent] = []
        """Events that are not stored yet."""
        self._shown: list[LiveEvent] = []
        """Stored events for the next push."""
        self._count = 0
        """Number of events published so far."""
        self._watchers: dict[LiveWatcher, None] = {}
        self._ended: deque[tuple[float, str]] = deque()
        """The matches that ended in the last minute, as pairs of end time and ladder name."""
        self._wake = trio.Event()

    @property
    def watchers(self) -> int:
        """Number of watchers."""
        return len(self._watchers)

    @property
    def running(self) -> Sequence[LiveMatch]:
        """Running matches, the oldest first."""
        return list(self._running.values())

    def get(self, match_id: int) -> LiveMatch | None:
        """Return a running match; None if no running match has this number."""
        return self._running.get(match_id)

    def playing(self, ladder: str) -> int:
        """Return the number of running matches on a ladder, given by name."""
        return sum(name_of(each.ladder_id) == ladder for each in self._running.values())

    def ended(self, ladder: str) -> int:
        """Return the number of matches on a ladder, given by name, that ended in the last minute."""
        self._forget_ended()
        return sum(each == ladder for _, each in self._ended)

    def began(self, header: Header) -> None:
        """Publish a match whose start is stored."""
        match = self._playing[header.match_id] = LiveMatch(header)
        self._happen(match, None)

    def round_over(self, match_id: int, report: RoundReport) -> None:
        """Publish a finished round. `report` is what all seats receive."""
        self._happen(self._playing[match_id], report)

    def over(self, match_id: int, over: Over) -> None:
        """Publish the end of a match, which is already stored."""
        match = self._playing.pop(match_id)
        self._happen(match, over)
        self._forget_ended()
        self._ended.append((trio.current_time(), name_of(match.ladder_id)))

    def send(self) -> None:
        """Queue the events that are now stored for the next push."""
        for event in self._happened:
            match, what = event.match, event.what
            if what is None:
                self._running[match.match_id] = match
            elif isinstance(what, Over):
                del self._running[match.match_id]
            else:
                match.rounds.append(what)
        self._count += len(self._happened)
        if self._watchers:
            self._shown += self._happened
            self._wake.set()
        self._happened = []

    @contextmanager
    def watch(self) -> Iterator[LiveWatcher]:
        """Yield a watcher that gets every later event. `running` is the state before these events."""
        watcher = LiveWatcher(self._count)
        self._watchers[watcher] = None
        try:
            yield watcher
        finally:
            del self._watchers[watcher]

    async def run(self) -> None:
        """Push events to the watchers, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            shown, self._shown = self._shown, []
            push, first = Push(shown), self._count - len(shown)
            for watcher in self._watchers:
                watcher.take(push, first)
            await trio.sleep(PUSH_INTERVAL)

    def _happen(self, match: LiveMatch, what: RoundReport | Over | None) -> None:
        self._happened.append(LiveEvent(match, what))
        self._turns.due(self)

    def _forget_ended(self) -> None:
        while self._ended and self._ended[0][0] < trio.current_time() - RATE_PERIOD:
            self._ended.popleft()
