# Compiled: every decision passes through here.
"""A bot's conversation that another process of the server holds, represented in a process that plays or forms its
matches.

Messages to the bot are encoded here and forwarded at the end of a turn; the other process queues and sends them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import Closed, EncodedAsk, Outgoing, Question
from arena.server.sessions.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.server.processes.line import ProcessLine
    from arena.server.runtime.turns import Turns
    from arena.server.sessions.messages import BotMessage, Hello, Link, MessageCodec, Notice, Reason
    from arena.server.sessions.session import Asked, Sent


class RemoteSession(Session):
    """A session at the other end of a line."""

    def __init__(
        self, link: Link, codec: MessageCodec, hello: Hello, turns: Turns, line: ProcessLine, number: int
    ) -> None:
        super().__init__(link, codec, hello, turns, Limits())
        self.number = number
        self._line = line
        self._asked: dict[tuple[int, int], Asked] = {}
        self._told_round_trip: float | None = None
        self._ended = trio.Event()

    @property
    def round_trip(self) -> float | None:
        """The latest reported round trip to the bot, in seconds."""
        return self._told_round_trip

    def measured(self, round_trip: float | None) -> None:
        """Store a reported round trip."""
        self._told_round_trip = round_trip

    async def run(self, hear: Callable[[BotMessage], None]) -> None:
        """Call `hear` with each message of the bot, until its last. Raises what `Session.run` raises.

        The other process ends the session and reports how it ended.
        """
        self._hear = hear
        await self._ended.wait()
        if self._end is not None:
            raise self._end

    def heard(self, message: BotMessage) -> None:
        """Handle a message of the bot."""
        if self._hear is not None and not self._over and self._end is None and not self._leaving:
            self._hear(message)

    def ended(self, end: Exception | None) -> None:
        """End because the other process has ended the session."""
        self._end = end
        self._over = True
        self._ended.set()

    def close(self, reason: Reason, text: str) -> None:
        """Have the stream closed after the waiting messages are sent; `run` raises `Closed` with this reason."""
        if self._end is None and not self._over:
            self._end = Closed(reason, text)
            self._turns.due(self)
            self._line.call("session", self.number, "close", reason.name, text)

    def leave(self) -> None:
        """Close the stream of a bot that signs off, once its waiting messages are sent. `run` then returns."""
        self._leaving = True
        self._turns.due(self)
        self._line.call("session", self.number, "leave")

    def tell(self, notice: Notice) -> None:
        """Have a notice sent at once, ahead of the waiting messages. The notice must not depend on these messages."""
        if not self._over:
            message = Outgoing()
            message.notices.append(notice)
            self._line.call_at_once("session", self.number, "tell", self._codec.encode(message))

    def beat(self, now: float) -> None:
        """Do nothing: the other process sends heartbeats."""

    def ask(self, match_id: int, ask: Asked, sent: Sent) -> None:
        """Forward a question. `sent` is not called, because the other process reports to the match."""
        self._asked[match_id, ask.decision] = ask
        self._turns.due(self)

    def settle(self, match_id: int, decision: int, answered_at: float) -> None:
        """Do nothing: the other process knows the answer."""

    def withdraw(self, match_id: int, decision: int) -> None:
        """Drop a question here, or in the process that has sent it to the bot."""
        if self._asked.pop((match_id, decision), None) is None and not self._over:
            self._line.call("session", self.number, "withdraw", match_id, decision)

    def send(self) -> None:
        """Forward the waiting messages, now that everything that led to them is stored."""
        message, asked = self._waiting, self._asked
        if self._over or (message is None and not asked):
            return
        self._waiting, self._asked = None, {}
        started: list[int] = []
        reported: list[int] = []
        encoded, asks = b"", 0
        if message is not None:
            started = [start.match_id for start in message.starts]
            reported = [report.match_id for report in message.reports]
            encoded, asks = self._codec.encode(message), message.asks
        questions = [
            (match_id, ask.seat, ask.decision, self._codec.encode(Outgoing((Question(match_id, ask),))))
            for (match_id, _), ask in asked.items()
            if not isinstance(ask, EncodedAsk)
        ]
        self._line.call("session", self.number, "say", encoded, asks, started, reported, questions)
