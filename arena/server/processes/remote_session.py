# Compiled: every decision comes by here.
"""A bot's conversation that another process of the server holds, as it is seen where its matches are played or formed.

What is said to the bot is encoded here and passed on at the end of a turn; there it waits for its turn to be sent.
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
        """Seconds of the way to the bot and back, as it was told last."""
        return self._told_round_trip

    def measured(self, round_trip: float | None) -> None:
        """Take over what was measured."""
        self._told_round_trip = round_trip

    async def run(self, hear: Callable[[BotMessage], None]) -> None:
        """Wait until the bot has said its last; what it says is heard through `hear` until then. Raises as `Session`'s.

        The other process ends the session and tells how.
        """
        self._hear = hear
        await self._ended.wait()
        if self._end is not None:
            raise self._end

    def heard(self, message: BotMessage) -> None:
        """Take what the bot said."""
        if self._hear is not None and not self._over and self._end is None and not self._leaving:
            self._hear(message)

    def ended(self, end: Exception | None) -> None:
        """End, as the other process does."""
        self._end = end
        self._over = True
        self._ended.set()

    def close(self, reason: Reason, text: str) -> None:
        """Have the stream ended once what waits is sent; `run` raises `Closed` with this reason."""
        if self._end is None and not self._over:
            self._end = Closed(reason, text)
            self._turns.due(self)
            self._line.call("session", self.number, "close", reason.name, text)

    def leave(self) -> None:
        """Have the stream of a bot that leaves in order ended, once what waits is sent; `run` returns."""
        self._leaving = True
        self._turns.due(self)
        self._line.call("session", self.number, "leave")

    def tell(self, notice: Notice) -> None:
        """Have a notice sent at once, ahead of what waits, which it must not depend on."""
        if not self._over:
            message = Outgoing()
            message.notices.append(notice)
            self._line.call_at_once("session", self.number, "tell", self._codec.encode(message))

    def beat(self, now: float) -> None:
        """Do nothing: heartbeats are the other process's."""

    def ask(self, match_id: int, ask: Asked, sent: Sent) -> None:
        """Pass a question on; `sent` is not called: the other process tells the match."""
        self._asked[match_id, ask.decision] = ask
        self._turns.due(self)

    def settle(self, match_id: int, decision: int, answered_at: float) -> None:
        """Do nothing: the other process knows the answer."""

    def withdraw(self, match_id: int, decision: int) -> None:
        """Drop a question here, or where the bot has it."""
        if self._asked.pop((match_id, decision), None) is None and not self._over:
            self._line.call("session", self.number, "withdraw", match_id, decision)

    def send(self) -> None:
        """Pass on what waits; what led to it is stored."""
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
