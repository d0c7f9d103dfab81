# Compiled: every decision comes by here.
"""A bot's conversation: a message is heard where it arrives, and what waits for the bot is sent at the end of a turn.

Questions that become due while the bot still owes answers wait and go out together, when it owes none any more or when
they are half of what it can play at once: so a bot with many matches thinks about one half of them while the server
plays the other, and batches need no timer. Everything else goes out at once.
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import Closed, EncodedAsk, Outgoing, Question, Reason
from arena.server.sessions.rate_limit import RateLimit
from arena.server.sessions.round_trip import RoundTrip

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.match.effects import Ask
    from arena.server.runtime.turns import Turns
    from arena.server.sessions.messages import (
        BotMessage,
        Hello,
        Invitation,
        Link,
        MatchOver,
        MatchStart,
        MessageCodec,
        Notice,
        RoundOver,
        Welcome,
    )

Asked: TypeAlias = "Ask | EncodedAsk"
Sent: TypeAlias = "Callable[[float, int, int, int], None]"
"""Called when a question was handed to the transport: the instant, seat, decision, round trip in microseconds."""

SEND_LIMIT: Final = 30.0
"""Seconds a bot may leave a message unread before its stream is closed."""
CLOSE_TIMEOUT: Final = 1.0
"""Seconds that what still waits has to leave when the server ends a stream."""
MOST_NOTICES: Final = 10_000
"""Notices that may wait for a bot: whoever earns them faster than it reads them is cut off."""


class Session:
    """A connected bot, with what waits to be sent to it."""

    def __init__(
        self,
        link: Link,
        codec: MessageCodec,
        hello: Hello,
        turns: Turns,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        """`turns` calls `send` when something waits."""
        self.link = link
        self.hello = hello
        self.capacity = hello.capacity
        """The bot's capacity."""
        self.number = 0
        """Number among the sessions of all processes of the server; 0 where there is one process."""
        self._round_trip = RoundTrip()
        self._codec = codec
        self._turns = turns
        self._rate_limit = RateLimit(limits.unsolicited_rate, limits.byte_rate)
        self._hear: Callable[[BotMessage], None] | None = None
        self._waiting: Outgoing | None = None
        """The message to send besides decisions."""
        self._questions: dict[tuple[int, int], tuple[Asked, Sent]] = {}
        self._in_flight: dict[tuple[int, int], float] = {}
        """Questions that the bot has yet to answer, each with the instant at which it was handed over."""
        self._held = False  # something waits for the message before to leave
        self._handed_over_at = link.received_at
        """Instant at which the latest message was handed to the transport; before the first, that of the hello."""
        self._over = False
        self._end: Exception | None = None
        self._leaving = False  # the bot has left in order
        self._scope = trio.CancelScope()

    @property
    def round_trip(self) -> float | None:
        """Seconds of the way to the bot and back, as short as it showed of late; None if that is not known."""
        return self._round_trip.seconds

    async def run(self, hear: Callable[[BotMessage], None]) -> None:
        """Have each message of the bot heard where it arrives, until the bot has said its last.

        Raises `trio.BrokenResourceError` when the bot vanished, and `Closed` when `close` was called, the bot does not
        read, or what it says is not allowed.
        """
        self._hear = hear
        try:
            with self._scope:
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
        """End the stream once what waits is sent; `run` raises `Closed` with this reason."""
        self._end = self._end or Closed(reason, text)
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + CLOSE_TIMEOUT)
        self._turns.due(self)

    def leave(self) -> None:
        """End the stream of a bot that leaves in order, once what waits is sent; `run` returns."""
        self._leaving = True
        self._scope.deadline = min(self._scope.deadline, trio.current_time() + CLOSE_TIMEOUT)
        self._turns.due(self)

    def welcome(self, welcome: Welcome) -> None:
        """Queue the welcome."""
        self._letter().welcome = welcome

    def invite(self, invitation: Invitation) -> None:
        """Queue an invitation."""
        self._letter().invitations.append(invitation)

    def start(self, start: MatchStart) -> None:
        """Queue the beginning of a match."""
        self._letter().starts.append(start)

    def notify(self, notice: Notice) -> None:
        """Queue a notice; the session ends where too many are unread."""
        notices = self._letter().notices
        if len(notices) >= MOST_NOTICES:
            self.close(Reason.NOT_READING, f"{MOST_NOTICES} notices were not read; read the stream while you think")
            return
        notices.append(notice)

    def tell(self, notice: Notice) -> None:
        """Send a notice at once, ahead of what waits, which it must not depend on; a busy link goes without."""
        message = Outgoing()
        message.notices.append(notice)
        self.tell_encoded(self._codec.encode(message))

    def tell_encoded(self, encoded: bytes) -> None:
        """Send what is encoded, as `tell` does."""
        if not self._over and not self.link.busy:
            with suppress(trio.BrokenResourceError):  # `run` is told, too
                self.link.hand_over(encoded)

    def show(self, report: RoundOver) -> None:
        """Queue the report of a round."""
        self._letter().rounds.append(report)

    def report(self, report: MatchOver) -> None:
        """Queue the report of a match."""
        self._letter().reports.append(report)

    def say(self, encoded: bytes, asks: int) -> None:
        """Queue what another process says, in the encoding of the session; it asks the bot for so many things."""
        letter = self._letter()
        letter.encoded += encoded
        letter.encoded_asks += asks

    def beat(self, now: float) -> None:
        """Queue a heartbeat; its number is the instant in microseconds, so that the answer tells the round trip."""
        self._letter().heartbeat = self._round_trip.beat(now)

    def beaten(self, at: float, number: int) -> None:
        """Measure the round trip by the answer to a heartbeat."""
        self._round_trip.beaten(at, number, self.link.shortest_round_trip())

    def ask(self, match_id: int, ask: Asked, sent: Sent) -> None:
        """Queue a question of a match to go out with others, unless the bot has it; `sent` is called when it has."""
        key = (match_id, ask.decision)
        if key in self._in_flight:
            sent(trio.current_time(), ask.seat, ask.decision, self._lag())
            return
        self._questions[key] = (ask, sent)
        if self._may_ask():
            self._turns.due(self)

    def settle(self, match_id: int, decision: int, answered_at: float | None = None) -> None:
        """Drop a question that is answered or taken back: it is not sent any more, or no longer waited for."""
        key = (match_id, decision)
        self._questions.pop(key, None)
        sent = self._in_flight.pop(key, None)
        if sent is not None and answered_at is not None:
            self._round_trip.answered(answered_at - sent)
        if self._may_ask():
            self._turns.due(self)

    def _lag(self) -> int:
        """The round trip in microseconds, as far as it is known."""
        return round((self._round_trip.seconds or 0.0) * 1e6)

    def _most(self) -> int:
        """Questions in one message: with half of what the bot can play at once another half can be thought about."""
        return max(1, (self.capacity + 1) // 2)

    def _may_ask(self) -> bool:
        """True if questions are to go out."""
        return bool(self._questions) and (not self._in_flight or len(self._questions) >= self._most())

    def send(self) -> None:
        """Send what waits, or once the message before has left.

        Called by `Turns`, once everything that led to it is stored.
        """
        if self._over:
            return
        if self.link.busy:
            if not self._held:  # the scope's deadline is the guard: a timer for each message would cost much more
                self._held = True
                self._scope.deadline = min(self._scope.deadline, self._handed_over_at + SEND_LIMIT)
            return
        try:
            self._send()
        except trio.BrokenResourceError:
            return  # `run` is told, too
        except Exception as fault:  # noqa: BLE001 - raised by `run`: it ends this line and no other
            self._end = fault
        if self._end is not None or self._leaving:
            self._scope.cancel()
        elif self._may_ask():
            self._turns.due(self)  # more than one message holds

    def _free(self) -> None:
        """Send what waited for a message to leave."""
        if self._held:
            self._held = False
            if self._end is None:
                self._scope.deadline = math.inf
            self._turns.due(self)

    def _letter(self) -> Outgoing:
        """The next message, to be added to; it is sent at the end of the turn."""
        if self._waiting is None:
            self._waiting = Outgoing()
        self._turns.due(self)
        return self._waiting

    def _next(self) -> dict[tuple[int, int], tuple[Asked, Sent]]:
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
        return asked

    def _send(self) -> None:
        message, asked = self._waiting, self._next()
        if message is None:
            if not asked:
                return  # what was due has been taken back
            message = Outgoing()
        else:
            self._waiting = None
        for (match_id, _), (ask, _) in asked.items():
            if isinstance(ask, EncodedAsk):
                message.encoded += ask.encoded
                message.encoded_asks += 1
            else:
                message.questions.append(Question(match_id, ask))
        self._rate_limit.asked(message.asks)
        self._hand_over(message)
        now = self._handed_over_at = trio.current_time()
        if asked:
            self._in_flight.update(dict.fromkeys(asked, now))
            lag = self._lag()
            for ask, sent in asked.values():
                sent(now, ask.seat, ask.decision, lag)

    def _hand_over(self, message: Outgoing) -> None:
        self.link.hand_over(self._codec.encode(message))

    def _receive(self, encoded: bytes) -> None:
        """Take a message of the bot: one turn."""
        at = self.link.received_at
        message = self._codec.decode(encoded, at)
        if self._end is not None or self._leaving:
            return  # the stream is being closed, and what the bot says counts no more
        things = len(message.ready) + len(message.answers) + len(message.declined) + len(message.resumed)
        if excess := self._rate_limit.exceeded(things, message.size, at):
            raise Closed(Reason.FLOODING, excess)
        assert self._hear is not None, "`run` says who hears"
        self._hear(message)
