"""Running matches as everybody may see them: players, finished rounds, and the end. Every seat has received all of a
finished round, so nothing here is secret. Like everything that leaves a server, events are published once they are
stored. All watchers get the same batches, a few per second.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import trio

from arena.match.effects import Over

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arena.replay.header import Header
    from arena.server.runtime.turns import Turns
    from engine.game import RoundReport

PUSH_INTERVAL: Final = 0.25
"""Minimum number of seconds between pushes to watchers."""
MOST_UNREAD: Final = 2000
"""Number of unread events at which a watcher is dropped: half a minute of a busy server."""
RATE_PERIOD: Final = 60.0
"""Seconds over which ended matches are counted."""


class LiveMatch:
    """A running match."""

    __slots__ = ("bots", "game", "kind", "match_id", "rounds", "started")

    def __init__(self, header: Header) -> None:
        """Copy some fields of the header, but do not keep the header, because it has the seed."""
        self.match_id: Final = header.match_id
        self.game: Final = header.game.name
        self.kind: Final = header.kind
        self.started: Final = header.started
        """In microseconds since 1970."""
        self.bots: Final = tuple(bot.name for bot in header.bots)
        self.rounds: Final[list[RoundReport]] = []
        """The finished rounds, in order."""


class LiveEvent:
    """An event of a match."""

    __slots__ = ("encoded", "match", "what")

    def __init__(self, match: LiveMatch, what: RoundReport | Over | None) -> None:
        self.match: Final = match
        self.what: Final = what
        """A finished round, or the match's outcome; None at its beginning."""
        self.encoded = b""
        """Cache of the encoded event, the same for all watchers."""


class Push:
    """One batch of events for the watchers."""

    __slots__ = ("encoded", "events")

    def __init__(self, events: Sequence[LiveEvent]) -> None:
        self.events: Final = events
        self.encoded = b""
        """Like `LiveEvent.encoded`, for watchers of all matches."""


class LiveWatcher:
    """A watcher with its unread pushes. Shared contents are not copied."""

    def __init__(self, told: int) -> None:
        """`told`: the number of events that it has already received."""
        self.dropped = False
        """True if it left too much unread; it gets nothing more."""
        self.scope: Final = trio.CancelScope()
        """Cancelled when the watcher is dropped, so that sending to it ends."""
        self._told = told
        self._waiting: Final = deque[Push]()
        self._unread = 0
        self._wake = trio.Event()

    def take(self, push: Push, first: int) -> None:
        """Queue a push whose first event has this number, or drop the watcher."""
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
        """`turns` lets it publish events once they are stored."""
        self._turns = turns
        self._playing: dict[int, LiveMatch] = {}
        """Running matches by number, including those whose beginning is not published yet."""
        self._running: dict[int, LiveMatch] = {}
        """The running matches whose beginning is published, by number."""
        self._happened: list[LiveEvent] = []
        """Events that are not stored yet."""
        self._shown: list[LiveEvent] = []
        """The stored events that wait for the next push."""
        self._count = 0
        """Number of events shown so far."""
        self._watchers: dict[LiveWatcher, None] = {}
        self._ended: deque[tuple[float, str]] = deque()
        self._wake = trio.Event()

    @property
    def watchers(self) -> int:
        """Number of watchers."""
        return len(self._watchers)

    @property
    def running(self) -> Sequence[LiveMatch]:
        """Running matches, in the order in which they began."""
        return list(self._running.values())

    def get(self, match_id: int) -> LiveMatch | None:
        """Return a running match; None if no running match has this number."""
        return self._running.get(match_id)

    def ended(self, game: str) -> int:
        """Return the number of matches of a game that ended in the last minute."""
        self._forget_ended()
        return sum(each == game for _, each in self._ended)

    def began(self, header: Header) -> None:
        """Publish a match whose beginning is stored."""
        match = self._playing[header.match_id] = LiveMatch(header)
        self._happen(match, None)

    def rounds(self, match_id: int) -> int:
        """Return the number of rounds of a match that are published or about to be."""
        match = self._playing[match_id]
        about = [each for each in self._happened if each.match is match and each.what is not None]
        return len(match.rounds) + len(about)

    def round_over(self, match_id: int, report: RoundReport) -> None:
        """Publish a round that all seats are being shown."""
        self._happen(self._playing[match_id], report)

    def over(self, match_id: int, over: Over) -> None:
        """Publish the end of a match, which is already stored."""
        match = self._playing.pop(match_id)
        self._happen(match, over)
        self._forget_ended()
        self._ended.append((trio.current_time(), match.game))

    def send(self) -> None:
        """Publish the events that are now stored."""
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
        """Yield a watcher that gets all events after the state of `running` at the block's beginning."""
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
