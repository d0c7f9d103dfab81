"""The matches that are being played, as everybody may see them: who plays, the rounds that are over, how they end.

Every seat has been sent all of a round when it is over, so nothing here is a secret. What happened is shown when it is
stored, like everything that leaves a server, and handed to watchers a few times a second, the same to all of them.
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
"""Seconds between two pushes to watchers, at least."""
MOST_UNREAD: Final = 2000
"""Events that a watcher may leave unread before it is dropped: those of half a minute on a server that is busy."""
RATE_PERIOD: Final = 60.0
"""Seconds over which ended matches are counted."""


class LiveMatch:
    """A match that is being played."""

    __slots__ = ("bots", "game", "kind", "match_id", "rounds", "started")

    def __init__(self, header: Header) -> None:
        """The header has the seed, and so it is not kept."""
        self.match_id: Final = header.match_id
        self.game: Final = header.game.name
        self.kind: Final = header.kind
        self.started: Final = header.started
        """In microseconds since 1970."""
        self.bots: Final = tuple(bot.name for bot in header.bots)
        self.rounds: Final[list[RoundReport]] = []
        """The finished rounds, in order."""


class LiveEvent:
    """Something that happened in a match."""

    __slots__ = ("encoded", "match", "what")

    def __init__(self, match: LiveMatch, what: RoundReport | Over | None) -> None:
        self.match: Final = match
        self.what: Final = what
        """A round that is over, or how the match ended; None where it begins."""
        self.encoded = b""
        """Whoever encodes it keeps here what is the same for all watchers."""


class Push:
    """One batch of events for the watchers."""

    __slots__ = ("encoded", "events")

    def __init__(self, events: Sequence[LiveEvent]) -> None:
        self.events: Final = events
        self.encoded = b""
        """As `LiveEvent.encoded`, for watchers of all matches."""


class LiveWatcher:
    """One who watches matches: what was pushed and has not been taken yet. What all watchers share is not copied."""

    def __init__(self, told: int) -> None:
        """`told`: how many events it knows of already."""
        self.dropped = False
        """True if too much was left unread; nothing follows."""
        self.scope: Final = trio.CancelScope()
        """Cancelled when it is dropped; for whoever sends to it."""
        self._told = told
        self._waiting: Final = deque[Push]()
        self._unread = 0
        self._wake = trio.Event()

    def take(self, push: Push, first: int) -> None:
        """Keep a push, whose first event has a number, for it; or drop it."""
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
    """All matches of a server that are being played."""

    def __init__(self, turns: Turns) -> None:
        """`turns` has it show what happened when that is stored."""
        self._turns = turns
        self._playing: dict[int, LiveMatch] = {}
        """By number, also those whose beginning is not shown yet."""
        self._running: dict[int, LiveMatch] = {}
        """The matches that are shown."""
        self._happened: list[LiveEvent] = []
        """The events that are not stored yet."""
        self._shown: list[LiveEvent] = []
        """The stored events that wait for the next push."""
        self._count = 0
        """Events shown so far."""
        self._watchers: dict[LiveWatcher, None] = {}
        self._ended: deque[tuple[float, str]] = deque()
        self._wake = trio.Event()

    @property
    def watchers(self) -> int:
        """Number of watchers."""
        return len(self._watchers)

    @property
    def running(self) -> Sequence[LiveMatch]:
        """The matches that are being played, in the order in which they began."""
        return list(self._running.values())

    def get(self, match_id: int) -> LiveMatch | None:
        """Return a match that is being played; None for any other number."""
        return self._running.get(match_id)

    def ended(self, game: str) -> int:
        """Return how many matches of a game ended in the last minute."""
        self._forget_ended()
        return sum(each == game for _, each in self._ended)

    def began(self, header: Header) -> None:
        """Show a match whose beginning is stored."""
        match = self._playing[header.match_id] = LiveMatch(header)
        self._happen(match, None)

    def rounds(self, match_id: int) -> int:
        """Return how many rounds of a match were shown, or are about to be."""
        match = self._playing[match_id]
        about = [each for each in self._happened if each.match is match and each.what is not None]
        return len(match.rounds) + len(about)

    def round_over(self, match_id: int, report: RoundReport) -> None:
        """Show a round to everybody, as it is shown to all seats now."""
        self._happen(self._playing[match_id], report)

    def over(self, match_id: int, over: Over) -> None:
        """Show the end of a match, which is stored."""
        match = self._playing.pop(match_id)
        self._happen(match, over)
        self._forget_ended()
        self._ended.append((trio.current_time(), match.game))

    def send(self) -> None:
        """Show what happened: it is stored now."""
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
        """A watcher for the block: it is pushed whatever comes after what `running` is when the block begins."""
        watcher = LiveWatcher(self._count)
        self._watchers[watcher] = None
        try:
            yield watcher
        finally:
            del self._watchers[watcher]

    async def run(self) -> None:
        """Push what happened to the watchers, until cancelled."""
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
