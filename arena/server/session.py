"""One connection of one bot: a reader that takes turns, a writer that sends whatever is waiting.

Questions that become due while the bot still owes answers wait and go out together: at most one unanswered batch is in
flight, which bounds memory and batches without a timer. Everything else goes out at once.
"""

from __future__ import annotations

import math
from collections import deque
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

import trio

from arena.server.limits import Limits
from arena.server.messages import Closed, LinkLost, NoticeKind, Outgoing, Question, Reason
from arena.server.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from arena.match.effects import Ask
    from arena.server.messages import Hello, Invitation, Link, MatchOver, Notice, RoundOver, Said, Welcome
    from arena.server.table import Table

SEND_LIMIT: Final = 30.0
"""Seconds a bot may leave a message unread before its stream is closed."""
LAST_WORDS: Final = 1.0
"""Seconds that what still waits has to leave when the server ends a stream."""
ROUND_TRIPS: Final = 9
"""Of so many heartbeats the median is the round trip."""
MOST_NOTICES: Final = 10_000
"""Notices that may wait for a bot: whoever earns them faster than it reads them is cut off."""


class Session:
    """The line to a bot, with what waits to be sent."""

    def __init__(
        self,
        link: Link,
        hello: Hello,
        commit: Callable[[], Awaitable[None]],
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        """`commit` stores what happened so far; nothing is sent before it returns."""
        self.link = link
        self.hello = hello
        self.capacity = hello.capacity
        """How many matches the bot can play at once."""
        self.round_trip: float | None = None
        """Seconds from a heartbeat to its answer, the median of the last few; the bot's thinking may be part of it."""
        self._round_trips: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._commit = commit
        self._pace = Pace(limits)
        self._waiting = Outgoing()
        self._questions: dict[tuple[int, int], tuple[Table, Ask]] = {}
        self._in_flight: set[tuple[int, int]] = set()
        self._wake = trio.Event()
        self._sending_since = math.inf
        self._end: LinkLost | Closed | None = None
        self._scope = trio.CancelScope()

    async def run(self, hear: Callable[[Said], None]) -> None:
        """Serves the line until the bot has said its last.

        Raises `LinkLost` when the bot vanished and `Closed` when `close` was called or the bot does not read.
        """
        with self._scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._ending, self._write)
                nursery.start_soon(self._ending, self._guard)
                await self._ending(partial(self._read, hear))
                self._scope.cancel()
        if self._end is not None:
            raise self._end

    def close(self, reason: Reason, text: str) -> None:
        """Ends the stream once what waits is sent; `run` raises `Closed` with this reason."""
        self._end = self._end or Closed(reason, text)
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + LAST_WORDS)
        self._wake.set()

    def welcome(self, welcome: Welcome) -> None:
        """Queues the first words."""
        self._waiting.welcome = welcome
        self._wake.set()

    def invite(self, invitation: Invitation) -> None:
        """Queues an invitation."""
        self._waiting.invitations.append(invitation)
        self._wake.set()

    def notify(self, notice: Notice) -> None:
        """Queues a notice."""
        if len(self._waiting.notices) >= MOST_NOTICES:
            self.close(Reason.NOT_READING, f"{MOST_NOTICES} notices were not read; read the stream while you think")
            return
        self._waiting.notices.append(notice)
        self._wake.set()

    def show(self, report: RoundOver) -> None:
        """Queues the report of a round."""
        self._waiting.rounds.append(report)
        self._wake.set()

    def report(self, report: MatchOver) -> None:
        """Queues the report of a match."""
        self._waiting.reports.append(report)
        self._wake.set()

    def beat(self, now: float) -> None:
        """Queues a heartbeat; its number is the instant in microseconds, so that the answer tells the round trip."""
        self._waiting.heartbeat = round(now * 1e6)
        self._wake.set()

    def beaten(self, at: float, number: int) -> None:
        """A heartbeat was answered."""
        self._round_trips.append(max(0.0, at - number / 1e6))
        self.round_trip = median(self._round_trips)

    def ask(self, table: Table, ask: Ask) -> None:
        """Queues a question. It goes out with all others as soon as the bot owes no answer."""
        self._questions[table.match_id, ask.decision] = (table, ask)
        if not self._in_flight:
            self._wake.set()

    def settle(self, match_id: int, decision: int) -> None:
        """A question is answered or taken back: it is not sent any more, or no longer waited for."""
        key = (match_id, decision)
        self._questions.pop(key, None)
        self._in_flight.discard(key)
        if self._questions and not self._in_flight:
            self._wake.set()

    async def _ending(self, task: Callable[[], Awaitable[None]]) -> None:
        """Runs one of the session's tasks; what ends one of them ends the session."""
        try:
            await task()
        except (LinkLost, Closed) as end:
            self._end = self._end or end
            self._scope.cancel()

    async def _read(self, hear: Callable[[Said], None]) -> None:
        while (said := await self.link.receive()) is not None:
            if self._end is None:  # else its last words are on their way, and what it says counts no more
                self._pace.heard(said)
                hear(said)

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            message, self._waiting = self._waiting, Outgoing()
            asked: list[tuple[Table, Ask]] = []
            if not self._in_flight:
                asked = list(self._questions.values())
                self._in_flight.update(self._questions)
                self._questions.clear()
                message.questions = [Question(table.match_id, ask) for table, ask in asked]
            self._pace.asked(_asks(message))
            await self._commit()
            self._sending_since = trio.current_time()
            await self.link.send(message)
            self._sending_since = math.inf
            if asked:
                now, lag = trio.current_time(), round((self.round_trip or 0.0) * 1e6)
                for table, ask in asked:
                    table.sent(now, ask, lag)
            if self._end is not None:
                raise self._end

    async def _guard(self) -> None:
        """Ends the session when the bot leaves a message unread: a timer for each message would cost much more."""
        while (now := trio.current_time()) < self._sending_since + SEND_LIMIT:
            await trio.sleep_until(min(self._sending_since, now) + SEND_LIMIT)
        raise Closed(Reason.NOT_READING, f"nothing was read for {SEND_LIMIT:.0f} s; read the stream while you think")


def _asks(message: Outgoing) -> int:
    """How many things a message asks a bot for; whoever is told that it is suspended is to say that it is back."""
    suspended = sum(notice.kind is NoticeKind.SUSPENDED for notice in message.notices)
    return len(message.questions) + len(message.invitations) + (message.heartbeat is not None) + suspended
