# Compiled: every decision passes through here.
"""A bot's conversation with the server.

Messages from the bot are handled on arrival. Messages to the bot are sent at the end of a turn (see `runtime.turns`).

New questions wait while the bot owes answers. They are sent together when it owes no answer, or when their number
reaches half of its capacity. So a bot with many matches thinks about half of them while the server advances the
others, and batches need no timer. All other messages are sent at the end of the turn.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Final, TypeAlias

import trio

from arena.match.effects import Ask
from arena.server.runtime.turns import Turns
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import (
    MAX_RESPONSE,
    BotMessage,
    Closed,
    Hello,
    Invitation,
    Link,
    ListedNode,
    MatchOver,
    MatchStart,
    MessageCodec,
    Notice,
    Outgoing,
    Question,
    Reason,
    RoundOver,
    Welcome,
)
from arena.server.sessions.rate_limit import RateLimit
from arena.server.sessions.round_trip import RoundTrip

Sent: TypeAlias = "Callable[[float, int, int, int], None]"
"""Called when the transport has accepted a question, with the time, the seat, the decision and the round-trip time in
microseconds.
"""

SEND_LIMIT: Final = 30.0
"""Maximum number of seconds for which a bot may leave a message unread before its stream is closed."""
CLOSE_TIMEOUT: Final = 1.0
"""Maximum number of seconds for sending queued messages when the server ends a stream."""
MOST_NOTICES: Final = 10_000
"""Maximum number of queued notices for a bot. One more ends the stream."""


class Session:
    """A connected bot with its queued messages."""

    def __init__(
        self,
        link: Link,
        codec: MessageCodec,
        hello: Hello,
        turns: Turns,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        """`turns` calls `send` when messages are queued."""
        self.link = link
        self.hello = hello
        self.capacity = hello.capacity
        """The bot's capacity."""
        self.knows_it_is_slow = False
        """True if a notice has already reported how long the bot's decisions take."""
        self._round_trip = RoundTrip()
        self._codec = codec
        self._turns = turns
        self._rate_limit = RateLimit(limits.unsolicited_rate, limits.byte_rate)
        self._hear: Callable[[BotMessage], None] | None = None
        self._waiting: Outgoing | None = None
        """The next message, without its questions."""
        self._questions: dict[tuple[int, int], tuple[Ask, Sent]] = {}
        self._in_flight: dict[tuple[int, int], float] = {}
        """Unanswered questions, each with the time at which the transport accepted it."""
        self._rest: deque[bytes] = deque()
        """Encoded messages to send before all others: the remaining parts of a message that was too large."""
        self._held = False  # True if queued messages must wait until the previous message has left.
        self._handed_over_at = link.received_at
        """Time at which the transport accepted the latest message to the bot. Before the first message, the arrival of
        the hello.
        """
        self._over = False
        self._end: Exception | None = None
        self._leaving = False  # True once the bot has signed off.
        self._scope = trio.CancelScope()

    @property
    def round_trip(self) -> float | None:
        """The shortest recent round-trip time in seconds; None if unknown."""
        return self._round_trip.seconds

    async def run(self, hear: Callable[[BotMessage], None]) -> None:
        """Handle each message of the bot on arrival, until its last.

        Raises:
            trio.BrokenResourceError: The bot vanished.
            Closed: `close` was called, the bot does not read, or a message is not allowed.
        """
        self._hear = hear
        try:
            with self._scope:
                if not self.link.busy:
                    self._free()  # The first message left before this loop started.
                await self.link.deliver(self._receive, self._free)
        except (trio.BrokenResourceError, Closed) as end:
            self._end = self._end or end
        finally:
            self._over = True
        if self._scope.cancelled_caught and self._end is None and not self._leaving:
            text = f"nothing was read for {SEND_LIMIT:.0f} s; read the stream while you think"
            self._end = Closed(Reason.NOT_READING, text)
        if self._end is not None:
            raise self._end

    def close(self, reason: Reason, text: str) -> None:
        """End the stream after queued messages are sent. `run` then raises `Closed` with this reason."""
        self._end = self._end or Closed(reason, text)
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + CLOSE_TIMEOUT)
        self._turns.due(self)

    def leave(self) -> None:
        """Close the stream of a bot that signs off, after queued messages are sent. `run` then returns."""
        self._leaving = True
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + CLOSE_TIMEOUT)
        self._turns.due(self)

    def welcome(self, welcome: Welcome) -> None:
        """Queue the welcome."""
        self._letter().welcome = welcome

    def list_nodes(self, nodes: Mapping[int, ListedNode]) -> None:
        """Queue a changed list of nodes."""
        self._letter().nodes = nodes

    def invite(self, invitation: Invitation) -> None:
        """Queue an invitation."""
        self._letter().invitations.append(invitation)

    def start(self, start: MatchStart) -> None:
        """Queue the start of a match."""
        self._letter().starts.append(start)

    def notify(self, notice: Notice) -> None:
        """Queue a notice. The session ends if too many are unread."""
        notices = self._letter().notices
        if len(notices) >= MOST_NOTICES:
            self.close(Reason.NOT_READING, f"{MOST_NOTICES} notices were not read; read the stream while you think")
            return
        notices.append(notice)

    def tell(self, notice: Notice) -> None:
        """Send a notice at once, ahead of queued messages. Skip it if the link is busy.

        The notice must not depend on the queued messages.
        """
        message = Outgoing()
        message.notices.append(notice)
        if not self._over and not self.link.busy:
            with suppress(trio.BrokenResourceError):  # `run` notices this, too.
                self.link.hand_over(self._codec.encode(message))

    def show(self, report: RoundOver) -> None:
        """Queue the report of a round."""
        self._letter().rounds.append(report)

    def report(self, report: MatchOver) -> None:
        """Queue the report of a match."""
        self._letter().reports.append(report)

    def beat(self, now: float) -> None:
        """Queue a heartbeat. Its number is the current time in microseconds, so the answer yields the round-trip
        time.
        """
        self._letter().heartbeat = self._round_trip.beat(now)

    def beaten(self, at: float, number: int) -> None:
        """Measure the round-trip time with the answer to a heartbeat."""
        self._round_trip.beaten(at, number, self.link.shortest_round_trip())

    def ask(self, match_id: int, ask: Ask, sent: Sent) -> None:
        """Queue a question, unless the bot already has it. `sent` is called when the question leaves."""
        key = (match_id, ask.decision)
        if key in self._in_flight:
            sent(trio.current_time(), ask.seat, ask.decision, self._lag())
            return
        self._questions[key] = (ask, sent)
        if self._may_ask():
            self._turns.due(self)

    def settle(self, match_id: int, decision: int, answered_at: float) -> None:
        """Drop an answered question."""
        sent = self._drop(match_id, decision)
        if sent is not None:
            self._round_trip.answered(answered_at - sent)

    def withdraw(self, match_id: int, decision: int) -> None:
        """Drop a question that was decided without the bot's answer. Notify the bot if it already has the question."""
        if self._drop(match_id, decision) is not None:
            self._letter().closed.append((match_id, decision))

    def _drop(self, match_id: int, decision: int) -> float | None:
        """Drop a question. Return the time at which it was sent, or None if it was not sent."""
        key = (match_id, decision)
        self._questions.pop(key, None)
        sent = self._in_flight.pop(key, None)
        if self._may_ask():
            self._turns.due(self)
        return sent

    def _lag(self) -> int:
        """Return the round-trip time in microseconds; 0 if unknown."""
        return round((self._round_trip.seconds or 0.0) * 1e6)

    def _most(self) -> int:
        """Return the maximum number of questions in one message, which is half of the bot's capacity."""
        return max(1, (self.capacity + 1) // 2)

    def _may_ask(self) -> bool:
        """Return whether questions should be sent now."""
        return bool(self._questions) and (not self._in_flight or len(self._questions) >= self._most())

    def send(self) -> None:
        """Send queued messages, now or after the previous message has been sent.

        Called by `Turns`, once the events that caused the messages are stored.
        """
        if self._over:
            return
        if self.link.busy:
            # The scope's deadline guards this wait, because a timer per message would cost much more.
            if not self._held:
                self._held = True
                self._scope.deadline = min(self._scope.deadline, self._handed_over_at + SEND_LIMIT)
            return
        try:
            self._send()
        except trio.BrokenResourceError:
            return  # `run` notices this, too.
        except Exception as fault:  # noqa: BLE001 - raised by `run`: it ends only this stream
            self._end = fault
        if self._rest:
            self._turns.due(self)
        elif self._end is not None or self._leaving:
            self._scope.cancel()
        elif self._may_ask():
            self._turns.due(self)  # One message could not hold everything.

    def _free(self) -> None:
        """Send the messages that waited for the previous message to leave."""
        if self._held:
            self._held = False
            if self._end is None:
                self._scope.deadline = math.inf
            self._turns.due(self)

    def _letter(self) -> Outgoing:
        """Return the next message, so that the caller can add to it. It is sent at the end of the turn."""
        if self._waiting is None:
            self._waiting = Outgoing()
        self._turns.due(self)
        return self._waiting

    def _next(self) -> dict[tuple[int, int], tuple[Ask, Sent]]:
        """Remove and return the questions to be sent now."""
        if not self._may_ask():
            return {}
        asked, most = self._questions, self._most()
        if len(asked) > most:
            asked = dict(islice(asked.items(), most))
            for key in asked:
                del self._questions[key]
        else:
            self._questions = {}
        return asked

    def _send(self) -> None:
        if self._rest:
            self._hand_over(self._rest.popleft())
            return
        message, asked = self._waiting, self._next()
        if message is None:
            if not asked:
                return  # All questions that were due have been withdrawn.
            message = Outgoing()
        else:
            self._waiting = None
        _add(message, asked)
        encoded = self._codec.encode(message)
        if len(encoded) > MAX_RESPONSE:
            encoded, asked = self._first_part(message, asked)
        self._rate_limit.asked(message.asks)
        now = self._hand_over(encoded)
        if asked:
            self._in_flight.update(dict.fromkeys(asked, now))
            lag = self._lag()
            for ask, sent in asked.values():
                sent(now, ask.seat, ask.decision, lag)

    def _first_part(
        self, message: Outgoing, asked: dict[tuple[int, int], tuple[Ask, Sent]]
    ) -> tuple[bytes, dict[tuple[int, int], tuple[Ask, Sent]]]:
        """Return the first part of a message that is too large, and the questions in this part.

        The other questions are queued again.
        """
        message.questions = []
        if encoded := self._codec.encode(message):
            self._questions = {**asked, **self._questions}
            first, *rest = self._codec.split(encoded, MAX_RESPONSE)
            self._rest.extend(rest)
            return first, {}
        some = asked
        while True:
            some = dict(islice(some.items(), max(1, len(some) // 2)))
            _add(message, some)
            encoded = self._codec.encode(message)
            if len(encoded) <= MAX_RESPONSE or len(some) == 1:
                break
            message.questions = []
        self._questions = {key: each for key, each in {**asked, **self._questions}.items() if key not in some}
        return encoded, some

    def _hand_over(self, encoded: bytes) -> float:
        """Send an encoded message. Return the time of sending."""
        self.link.hand_over(encoded)
        self._handed_over_at = trio.current_time()
        return self._handed_over_at

    def _receive(self, encoded: bytes) -> None:
        """Handle a message from the bot in one turn."""
        at = self.link.received_at
        message = self._codec.decode(encoded, at)
        if self._end is not None or self._leaving:
            return  # The stream is being closed, and messages no longer count.
        things = len(message.ready) + len(message.answers) + len(message.declined) + len(message.resumed)
        if excess := self._rate_limit.exceeded(things, message.size, at):
            raise Closed(Reason.FLOODING, excess)
        assert self._hear is not None, "`run` says who hears"
        self._hear(message)


def _add(message: Outgoing, asked: dict[tuple[int, int], tuple[Ask, Sent]]) -> None:
    """Add questions to a message without questions."""
    for (match_id, _), (ask, _) in asked.items():
        message.questions.append(Question(match_id, ask))
