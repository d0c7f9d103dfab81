"""One connection of one bot: what it says is heard where it arrives, what waits for it is sent at the end of a turn.

Questions that become due while the bot still owes answers wait and go out together, when it owes none any more or when
they are half of what it can play at once: so a bot with many matches thinks about one half of them while the server
plays the other, and batches need no timer. Everything else goes out at once.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Final

import trio

from arena.server.limits import Limits
from arena.server.messages import Closed, LinkLost, Outgoing, Question, Reason
from arena.server.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.match.effects import Ask
    from arena.server.messages import Hello, Invitation, Link, MatchOver, Notice, RoundOver, Said, Welcome
    from arena.server.post import Post
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
        post: Post,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        """`post` has it send what waits."""
        self.link = link
        self.hello = hello
        self.capacity = hello.capacity
        """How many matches the bot can play at once."""
        self.round_trip: float | None = None
        """Seconds from a heartbeat to its answer, the median of the last few; the bot's thinking may be part of it."""
        self._round_trips: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._post = post
        self._pace = Pace(limits)
        self._waiting: Outgoing | None = None
        """What is to be said besides questions."""
        self._questions: dict[tuple[int, int], tuple[Table, Ask]] = {}
        self._in_flight: set[tuple[int, int]] = set()
        self._held = False  # something waits for the message before to leave
        self._over = False
        self._end: Exception | None = None
        self._scope = trio.CancelScope()

    async def run(self, hear: Callable[[Said], None]) -> None:
        """Serves the line until the bot has said its last.

        Raises `LinkLost` when the bot vanished and `Closed` when `close` was called or the bot does not read.
        """

        def heard(said: Said) -> None:
            if self._end is None:  # else its last words are on their way, and what it says counts no more
                self._pace.heard(said)
                hear(said)

        try:
            with self._scope:
                await self.link.listen(heard, self._free)
        except (LinkLost, Closed) as end:
            self._end = self._end or end
        finally:
            self._over = True
        if self._scope.cancelled_caught and self._end is None:
            text = f"nothing was read for {SEND_LIMIT:.0f} s; read the stream while you think"
            self._end = Closed(Reason.NOT_READING, text)
        if self._end is not None:
            raise self._end

    def close(self, reason: Reason, text: str) -> None:
        """Ends the stream once what waits is sent; `run` raises `Closed` with this reason."""
        self._end = self._end or Closed(reason, text)
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + LAST_WORDS)
        self._post.due(self)

    def welcome(self, welcome: Welcome) -> None:
        """Queues the first words."""
        self._letter().welcome = welcome

    def invite(self, invitation: Invitation) -> None:
        """Queues an invitation."""
        self._letter().invitations.append(invitation)

    def notify(self, notice: Notice) -> None:
        """Queues a notice."""
        notices = self._letter().notices
        if len(notices) >= MOST_NOTICES:
            self.close(Reason.NOT_READING, f"{MOST_NOTICES} notices were not read; read the stream while you think")
            return
        notices.append(notice)

    def show(self, report: RoundOver) -> None:
        """Queues the report of a round."""
        self._letter().rounds.append(report)

    def report(self, report: MatchOver) -> None:
        """Queues the report of a match."""
        self._letter().reports.append(report)

    def beat(self, now: float) -> None:
        """Queues a heartbeat; its number is the instant in microseconds, so that the answer tells the round trip."""
        self._letter().heartbeat = round(now * 1e6)

    def beaten(self, at: float, number: int) -> None:
        """A heartbeat was answered."""
        self._round_trips.append(max(0.0, at - number / 1e6))
        self.round_trip = median(self._round_trips)

    def ask(self, table: Table, ask: Ask) -> None:
        """Queues a question, to go out with others."""
        self._questions[table.match_id, ask.decision] = (table, ask)
        if self._may_ask():
            self._post.due(self)

    def settle(self, match_id: int, decision: int) -> None:
        """A question is answered or taken back: it is not sent any more, or no longer waited for."""
        key = (match_id, decision)
        self._questions.pop(key, None)
        self._in_flight.discard(key)
        if self._may_ask():
            self._post.due(self)

    def _most(self) -> int:
        """Questions in one message: with half of what the bot can play at once another half can be thought about."""
        return max(1, (self.capacity + 1) // 2)

    def _may_ask(self) -> bool:
        """Whether questions are to go out."""
        return bool(self._questions) and (not self._in_flight or len(self._questions) >= self._most())

    def send(self) -> None:
        """Sends what waits, unless the message before has yet to leave: then it goes when that has.

        Called by `Post`, once everything that led to it is stored.
        """
        if self._over:
            return
        if self.link.busy:
            if not self._held:  # the scope's deadline is the guard: a timer for each message would cost much more
                self._held = True
                self._scope.deadline = min(self._scope.deadline, trio.current_time() + SEND_LIMIT)
            return
        try:
            self._send()
        except LinkLost:
            return  # whoever listens is told, too
        except Exception as fault:  # noqa: BLE001 - raised by `run`: it ends this line and no other
            self._end = fault
        if self._end is not None:
            self._scope.cancel()
        elif self._may_ask():
            self._post.due(self)  # more than one message holds

    def _free(self) -> None:
        """A message has left."""
        if self._held:
            self._held = False
            if self._end is None:
                self._scope.deadline = math.inf
            self._post.due(self)

    def _letter(self) -> Outgoing:
        """The next message, to be added to; it is sent at the end of the turn."""
        if self._waiting is None:
            self._waiting = Outgoing()
        self._post.due(self)
        return self._waiting

    def _next(self) -> dict[tuple[int, int], tuple[Table, Ask]]:
        """The questions that go out now, which are no longer waiting then."""
        if not self._may_ask():
            return {}
        asked, most = self._questions, self._most()
        if len(asked) > most:
            asked = dict(islice(asked.items(), most))
            for key in asked:
                del self._questions[key]
        else:
            self._questions = {}
        self._in_flight.update(asked)
        return asked

    def _send(self) -> None:
        message, asked = self._waiting, self._next()
        if message is None:
            if not asked:
                return  # what was due has been taken back
            message = Outgoing()
        else:
            self._waiting = None
        message.questions = [Question(match_id, ask) for (match_id, _), (_, ask) in asked.items()]
        self._pace.asked(message.asks)
        self.link.send(message)
        if asked:
            now, lag = trio.current_time(), round((self.round_trip or 0.0) * 1e6)
            for table, ask in asked.values():
                table.sent(now, ask, lag)
